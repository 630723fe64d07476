import type { Id } from '../../../index.ts'
import type { ForgeStorage } from '../../../storage/storage.ts'
import { AGGREGATES } from './aggregates.ts'
import type { Draw } from './draw.ts'
import { outboxKinds } from './outbox.ts'
import { retirementKinds } from './retirements.ts'
import type { Kind, Names } from './sample.ts'
import { NOON } from './sample.ts'

/** One change, in words and as a call. */
export interface DrawnChange {
  readonly name: string
  run<Tx>(storage: ForgeStorage<Tx>): Promise<unknown>
}

/** All kinds with their names, each as often as its share. */
const DRAWN: readonly (readonly [name: string, kind: Kind])[] = [
  ...AGGREGATES.map(({ kinds }) => kinds),
  retirementKinds,
  outboxKinds,
]
  .flatMap((kinds) => Object.entries(kinds))
  .flatMap((entry) => Array.from({ length: entry[1].share }, () => entry))

/**
 * Draws the change of a step, with its author and its time, which is that of no other step. A part of the changes is refused by `beforeCommit`. The
 * result has what the change returned and the events that `beforeCommit` received.
 */
export function drawnChange(draw: Draw, names: Names, step: number): DrawnChange {
  const drawn = DRAWN[draw.below(DRAWN.length)]
  if (drawn === undefined) throw new RangeError('there are no kinds of changes')

  const [name, kind] = drawn
  const [input, run] = kind.draw(draw, names)
  const time = NOON.getTime() + step * 1001 + draw.below(30) * 100 - 1500
  const by = { actorId: draw.one<Id | null>([null, ...names.users]), at: () => new Date(time) }
  const isRefused = draw.below(9) === 0
  return {
    name: `${name} ${JSON.stringify(input)}${isRefused ? ', refused before the commit' : ''}`,
    async run(storage) {
      const received: unknown[] = []
      const beforeCommit = (events: readonly object[]) => {
        received.push(...events.map((event) => ({ ...event, id: undefined })))
        if (isRefused) throw new Error('refused before the commit')
      }
      return { result: await run(storage, { by, beforeCommit }), received }
    },
  }
}
