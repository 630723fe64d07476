import { ForgeError } from '../../schema/errors.ts'
import type { Block, EventDraft } from '../../schema/records.ts'
import type { Removed, Retired } from '../../storage/contract/storage.ts'
import { withSubject } from '../change.ts'

/**
 * Refuses a new member whom the organization blocks.
 * @throws ForgeError `ALREADY_BLOCKED`. Source: docs/storage.md, section 2
 */
export function assertNotBlocked(current: Block | undefined): void {
  if (current !== undefined) {
    throw new ForgeError('ALREADY_BLOCKED', 'user is blocked by the organization: unblock first')
  }
}

/** Creates the event of a retirement. Its data says what was removed with the retired object. */
export function retirementEvent(retired: Retired, { pins, blocks, grants }: Removed): EventDraft {
  switch (retired.thing) {
    case 'user':
      return withSubject({ userId: retired.userId }, { type: 'user.deleted', data: { blocks, grants } })
    case 'organization':
      return withSubject({ organizationId: retired.organizationId }, { type: 'organization.deleted', data: { blocks } })
    case 'repository':
      return withSubject({ repositoryId: retired.repositoryId }, { type: 'repository.deleted', data: { pins } })
    case 'issue': {
      const { repositoryId, issueId } = retired
      return withSubject({ repositoryId, issueId }, { type: 'issue.deleted', data: { wasPinned: pins > 0 } })
    }
    default:
      return retired satisfies never
  }
}
