import { z } from 'zod'
import { annotations, issueListDefinition, labelDefinition, reactionDefinition } from './definitions.ts'

/** A JSON Schema of draft 4, as a value of JSON. */
type JsonSchema = Readonly<Record<string, unknown>>

/** Words that Gitea's files carry and draft 4 ignores; kept so that tools which know the files by them find them. */
const NAMES = {
  'issue.json': { $id: 'http://example.com/issue.json', $$target: 'issue.json' },
  'label.json': { $id: 'label.json', $$target: 'label.json' },
  'reaction.json': { $id: 'http://example.com/reaction.json', $$target: 'reaction.json' },
} as const

/**
 * The draft-04 JSON Schema of an issue document, an array of issues. It refers to the schemas of labels and reactions as
 * `label.json` and `reaction.json`. Accepts and rejects what Gitea's file of the same name does. A new object each time.
 */
export function issueJsonSchema(): object {
  return jsonSchema('issue.json')
}

/** The draft-04 JSON Schema of a label, `label.json` to the schema of issues. A new object each time. */
export function labelJsonSchema(): object {
  return jsonSchema('label.json')
}

/** The draft-04 JSON Schema of a reaction, `reaction.json` to the schema of issues. A new object each time. */
export function reactionJsonSchema(): object {
  return jsonSchema('reaction.json')
}

function jsonSchema(file: keyof typeof NAMES): JsonSchema {
  const { schemas } = z.toJSONSchema(filedDefinitions(), {
    target: 'draft-4',
    metadata: annotations,
    uri: (id) => id,
    override: ({ jsonSchema: schema }) => {
      if (schema.enum !== undefined) delete schema.type // Gitea's file has the enum alone, which says as much
    },
  })
  const { $schema, title, description, ...rest } = { ...schemas[file], ...NAMES[file] }
  return { $schema, ...NAMES[file], title, description, ...rest }
}

/** The definitions that are files of their own: where another uses one, it refers to the file. */
function filedDefinitions(): z.core.$ZodRegistry<{ readonly id: string }> {
  const files = z.registry<{ readonly id: string }>()
  files.add(issueListDefinition, { id: 'issue.json' })
  files.add(labelDefinition, { id: 'label.json' })
  files.add(reactionDefinition, { id: 'reaction.json' })
  return files
}
