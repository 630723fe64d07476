import type { ValidateFunction } from 'ajv'
import Ajv from 'ajv-draft-04'
import { issueJsonSchema, labelJsonSchema, reactionJsonSchema } from '../../../src/schema/schema.ts'
import { isDateTimeByGrammar } from '../rfc3339.ts'

// not strict: the files carry `$id` and `$$target`, which draft 4 does not know
const ajv = new Ajv.default({
  strict: false,
  strictNumbers: true,
  allErrors: true,
  formats: { 'date-time': isDateTimeByGrammar },
  schemas: { 'label.json': labelJsonSchema(), 'reaction.json': reactionJsonSchema() },
})
/** A validator by other hands, with the published schemas. */
export const judge: ValidateFunction = ajv.compile(issueJsonSchema())

/** The pointers that the judge blames. It names the object when a property is missing or unknown; we name the property. */
export function blamedByJudge(document: unknown): ReadonlySet<string> {
  if (judge(document)) return new Set()

  const errors = judge.errors ?? []
  return new Set(
    errors.map(({ instancePath, params }) => {
      const name: unknown = params['missingProperty'] ?? params['additionalProperty']
      return typeof name === 'string'
        ? `${instancePath}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
        : instancePath
    }),
  )
}
