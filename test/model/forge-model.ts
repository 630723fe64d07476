import type { Block, ForgeErrorCode } from '../../src/index.ts'
import type { Step } from './step.ts'
import { callerOf, momentOf } from './step.ts'

/** How a step ended, in a form that can be compared: a value, or a code and what came with it. */
export type Answer = { readonly value: unknown } | { readonly code: ForgeErrorCode; readonly details: unknown }

/** What the model throws to refuse a step. */
export class Refusal extends Error {
  readonly code: ForgeErrorCode
  readonly details: unknown

  constructor(code: ForgeErrorCode, details?: unknown) {
    super(code)
    this.code = code
    this.details = details
  }
}

/** An event in the model: its envelope without the id. */
interface ModelEvent {
  readonly type: string
  readonly data: object
  readonly at: Date
  readonly actorId: string | null
  readonly organizationId: string | null
  readonly repositoryId: string | null
  readonly issueId: string | null
  readonly userId: string | null
}

/** What one step of the model works with. */
export interface Turn {
  readonly model: ForgeModel
  readonly now: Date
  /** Who asks, as events and rows keep it. */
  readonly actorId: string | null
  /** Refuses a caller who may not; `concealed` is the answer to an outsider. */
  check(concealed: 'ORGANIZATION_NOT_FOUND' | 'USER_NOT_FOUND'): void
  report(type: string, data: object, subject?: Partial<ModelEvent>): void
}

/** What a forge should do, said in the plainest way: lists that are changed in place, one step at a time. */
export class ForgeModel {
  readonly members: Set<string> = new Set()
  readonly gone: Set<string> = new Set()
  readonly events: ModelEvent[] = []
  readonly #blocks = new Map<string, Block[]>()

  /** The blocks by an organization or a user. */
  blocksBy({ organizationId, blockerId }: Pick<Block, 'organizationId' | 'blockerId'>): Block[] {
    const key = blockerId === undefined ? `organization ${organizationId}` : `user ${blockerId}`
    const found = this.#blocks.get(key) ?? []
    this.#blocks.set(key, found)
    return found
  }

  allBlocks(): readonly Block[][] {
    return [...this.#blocks.values()]
  }

  /** Takes one step. A step that is refused changes nothing. */
  take(step: Step, index: number): Answer {
    try {
      return { value: step.model(this.#turnOf(step, momentOf(index))) }
    } catch (error) {
      if (error instanceof Refusal) return { code: error.code, details: error.details }
      throw error
    }
  }

  #turnOf({ as }: Step, now: Date): Turn {
    const caller = callerOf(as)
    const actorId = typeof caller === 'string' ? null : String(caller.id)
    return {
      model: this,
      now,
      actorId,
      check(concealed) {
        if (as === 'anonymous') throw new Refusal('UNAUTHENTICATED')
        if (as === 'stranger') throw new Refusal('FORBIDDEN')
        if (as === 'outsider') throw new Refusal(concealed)
      },
      report: (type, data, subject = {}) => {
        const nothing = { organizationId: null, repositoryId: null, issueId: null, userId: null }
        this.events.push({ type, data, at: now, actorId, ...nothing, ...subject })
      },
    }
  }
}
