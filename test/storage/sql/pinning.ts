import type { EventDraft, Id } from '../../../src/index.ts'
import type { ChangeCircumstances, ChangeDecision, PinRow } from '../../../src/storage/storage.ts'
import { BOARD } from '../../../src/testing/storage-contract/samples/pin-boards.ts'
import { AUTHOR, NO_SUBJECT, NOON } from '../../../src/testing/storage-contract/samples/sample.ts'

type Pinning = ChangeCircumstances<unknown> & { readonly decide: ChangeDecision<readonly PinRow[], number> }

/** A change that pins an issue at the end of the sample board, in whatever way `extras` say. */
export function pinning(issueId: Id, extras: Partial<Pinning> = {}): Pinning {
  return {
    by: AUTHOR,
    decide(rows) {
      const position = rows.length + 1
      const event: EventDraft = { ...NO_SUBJECT, type: 'issue.pinned', data: { position }, ...BOARD_IDS, issueId }
      return { state: [...rows, { issueId, pinnedAt: NOON, pinnedBy: '7' }], events: [event], result: position }
    },
    ...extras,
  }
}

const BOARD_IDS = { repositoryId: BOARD.repositoryId }
