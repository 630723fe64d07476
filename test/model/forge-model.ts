import type { Answer } from './answer.ts'
import { answerOf, Refusal } from './answer.ts'
import * as badges from './model-badges.ts'
import * as blocks from './model-blocks.ts'
import * as lifecycle from './model-lifecycle.ts'
import * as pins from './model-pins.ts'
import type { ModelEvent } from './model-state.ts'
import { ModelState } from './model-state.ts'
import type { Call, Inputs, Step, StepOf } from './step.ts'
import type { Who } from './world.ts'
import { momentOf, WHO_IDS } from './world.ts'

/** What one step of the model works with. */
export interface Turn {
  readonly state: ModelState
  readonly now: Date
  /** Who asks, as events and rows keep it. */
  readonly actorId: string | null
  /** Refuses a caller who may not; `concealed` is the answer to an outsider. */
  check(concealed: 'REPOSITORY_NOT_FOUND' | 'ORGANIZATION_NOT_FOUND' | 'USER_NOT_FOUND' | 'FORBIDDEN'): void
  report(type: string, data: object, subject?: Partial<ModelEvent>): void
}

const CALLS: { readonly [C in Call]: (turn: Turn, input: Inputs[C]) => unknown } = {
  pin: pins.pin,
  unpin: pins.unpin,
  move: pins.move,
  listPins: pins.list,
  allowed: pins.allowed,
  history: pins.history,
  block: blocks.block,
  unblock: blocks.unblock,
  findBlock: blocks.find,
  listBlocks: blocks.list,
  walkBlocks: blocks.walk,
  filterBlocked: blocks.among,
  refuseBlocked: blocks.refuse,
  grant: badges.grant,
  revoke: badges.revoke,
  heldBy: badges.heldBy,
  define: badges.define,
  update: badges.update,
  remove: badges.remove,
  findBadge: badges.find,
  listBadges: badges.list,
  userDeleted: lifecycle.userDeleted,
  organizationDeleted: lifecycle.organizationDeleted,
  repositoryDeleted: lifecycle.repositoryDeleted,
  issueDeleted: lifecycle.issueDeleted,
  memberAdded: lifecycle.memberAdded,
  memberRemoved: lifecycle.memberRemoved,
}

/** What a forge should do, said in the plainest way: lists that are changed in place, one step at a time. */
export class ForgeModel {
  readonly state: ModelState

  constructor(state: ModelState = new ModelState()) {
    this.state = state
  }

  /** Takes one step. A step that is refused changes nothing. */
  take(step: Step, index: number): Answer {
    return answerOf(() => perform(turnOf(this.state, step.as, momentOf(index)), step))
  }
}

function perform<C extends Call>(turn: Turn, { call, input }: StepOf<C>): unknown {
  return CALLS[call](turn, input)
}

function turnOf(state: ModelState, as: Who, now: Date): Turn {
  const actorId = as === 'anonymous' || as === 'system' ? null : WHO_IDS[as]
  return {
    state,
    now,
    actorId,
    check(concealed) {
      if (as === 'anonymous') throw new Refusal('UNAUTHENTICATED')
      if (as === 'stranger') throw new Refusal('FORBIDDEN')
      if (as === 'outsider') throw new Refusal(concealed)
    },
    report(type, data, subject = {}) {
      const nothing = { organizationId: null, repositoryId: null, issueId: null, userId: null }
      state.events.push({ type, data, at: now, actorId, ...nothing, ...subject })
    },
  }
}
