import type { Actor, Forge, ForgeEvent } from '../../src/index.ts'
import { createForge, isForgeError } from '../../src/index.ts'
import type { ForgeStorage } from '../../src/storage/storage.ts'
import type { Answer } from './forge-model.ts'
import type { Step } from './step.ts'
import { momentOf } from './step.ts'

/** A real forge that takes the model's steps, and gives answers in the model's form. */
export class ForgeUnderTest<Tx> {
  readonly forge: Forge<Actor, Tx>
  /** What the listeners of this process received. */
  readonly received: ForgeEvent[] = []
  readonly #storage: ForgeStorage<Tx>
  readonly #members = new Set<string>()
  #now = new Date(0)

  constructor(storage: ForgeStorage<Tx>) {
    this.#storage = storage
    this.forge = createForge<Actor, Tx>({
      storage,
      policy: {
        authorize: (_request, { actor }) => {
          if (actor === 'anonymous') return { allow: false, reason: 'who?' }
          if (actor.id === '1') return { allow: true }
          return { allow: false, reason: 'no', conceal: actor.id === '3' }
        },
      },
      membership: { isMember: ({ organizationId, userId }) => this.#members.has(`${organizationId}/${userId}`) },
      clock: { now: () => new Date(this.#now) },
    })
    this.forge.events.on((event) => this.received.push(event))
  }

  /** Makes the tables. */
  async migrate(): Promise<void> {
    await this.#storage.migrate()
  }

  /** Takes one step. Of invalid input only the pointers are kept. */
  async take(step: Step, index: number): Promise<Answer> {
    this.#now = momentOf(index)
    try {
      return { value: comparable(await step.forge({ ...this.forge, members: this.#members })) }
    } catch (error) {
      if (isForgeError(error, 'INVALID_INPUT')) {
        return { code: error.code, details: error.details.violations.map(({ pointer }) => pointer) }
      }
      if (isForgeError(error, 'FORBIDDEN')) return { code: error.code, details: undefined }
      if (isForgeError(error)) return { code: error.code, details: error.details }
      throw error
    }
  }

  /** Every event of the outbox. */
  async events(): Promise<readonly ForgeEvent[]> {
    return (await this.forge.events.read({ limit: 1000 })).events
  }
}

/** A value in a form that can be compared: no cursors, no event ids. */
export function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable)
  if (value instanceof Set) return [...value].sort()
  if (typeof value !== 'object' || value === null) return value

  if ('items' in value) {
    const { cursor, ...page } = { cursor: undefined, ...value }
    return { ...page, more: cursor !== undefined }
  }
  if (!('version' in value)) return value
  const { version: _, id: __, ...event } = { id: '', ...value }
  return event
}
