import type { PinKind } from '../../../schema/records.ts'

/** Whether another issue and another pull request may be pinned. */
export interface PinsAllowedJson {
  readonly issues: boolean
  readonly pull_requests: boolean
}

/** Makes the JSON of what may still be pinned. */
export function pinsAllowedJson(allowed: { readonly [K in PinKind]: boolean }): PinsAllowedJson {
  return { issues: allowed.issue, pull_requests: allowed.pullRequest }
}
