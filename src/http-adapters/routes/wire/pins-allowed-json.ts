import type { PinKind } from '../../../schema/records.ts'
import type { JsonSchema } from '../json-schema.ts'

/** Whether another issue and another pull request may be pinned. */
export interface PinsAllowedJson {
  readonly issues: boolean
  readonly pull_requests: boolean
}

/** What the JSON of what may still be pinned is. */
export const pinsAllowedSchema: JsonSchema = {
  type: 'object',
  required: ['issues', 'pull_requests'] satisfies (keyof PinsAllowedJson)[],
  additionalProperties: false,
  properties: {
    issues: { type: 'boolean', description: 'whether another issue may be pinned' },
    pull_requests: { type: 'boolean', description: 'whether another pull request may be pinned' },
  } satisfies Record<keyof PinsAllowedJson, JsonSchema>,
}

/** Makes the JSON of what may still be pinned. */
export function pinsAllowedJson(allowed: { readonly [K in PinKind]: boolean }): PinsAllowedJson {
  return { issues: allowed.issue, pull_requests: allowed.pullRequest }
}
