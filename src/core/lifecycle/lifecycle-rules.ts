import { isObject, need } from '../../schema/arguments.ts'
import type { Decision } from '../../schema/decision.ts'
import { ForgeError } from '../../schema/errors.ts'
import type { EventDraft } from '../../schema/events.ts'
import type { Block } from '../../schema/records.ts'
import type { Removed, Retired } from '../../storage/contract/storage.ts'
import { about } from '../subject.ts'

/** Lets a user become a member whom the organization does not block. @throws ForgeError `ALREADY_BLOCKED`. Source: docs/storage.md, section 2 */
export function admitMember(current: Block | undefined): Decision<Block | undefined, void, never> {
  need(current === undefined || isObject(current), 'admitMember', 'current', 'a block, or undefined')
  if (current !== undefined) {
    throw new ForgeError('ALREADY_BLOCKED', 'user is blocked by the organization: unblock first')
  }

  return { state: current, events: [], result: undefined }
}

/** The one event that tells what went with a retired thing. */
export function retirementEvent(retired: Retired, { pins, blocks, grants }: Removed): EventDraft {
  switch (retired.thing) {
    case 'user':
      return about({ userId: retired.userId }, { type: 'user.deleted', data: { blocks, grants } })
    case 'organization':
      return about({ organizationId: retired.organizationId }, { type: 'organization.deleted', data: { blocks } })
    case 'repository':
      return about({ repositoryId: retired.repositoryId }, { type: 'repository.deleted', data: { pins } })
    case 'issue': {
      const { repositoryId, issueId } = retired
      return about({ repositoryId, issueId }, { type: 'issue.deleted', data: { wasPinned: pins > 0 } })
    }
    default:
      return retired satisfies never
  }
}
