import fc from 'fast-check'
import type { Actor, Caller, Forge } from '../../src/index.ts'
import type { Turn } from './forge-model.ts'

/** Who asks: one who may do all, one who may nothing, one from whom all is concealed, an anonymous caller, the host. */
export type Who = 'owner' | 'stranger' | 'outsider' | 'anonymous' | 'system'

/** The ids of those who are signed in. */
const WHO_IDS = { owner: '1', stranger: '2', outsider: '3' } as const

export const ORGANIZATIONS: readonly string[] = ['20', '9007199254740993']
export const USERS: readonly string[] = ['1', '30', '31', '9007199254740993']

/** The services of a forge, and the members that its host has. */
export interface Subject extends Pick<Forge, 'blocks' | 'badges' | 'lifecycle'> {
  readonly members: Set<string>
}

/** A call: how a forge takes it, and what the model says of it. */
export interface Call<Input> {
  forge(subject: Subject, caller: Caller<Actor>, input: Input): unknown
  model(turn: Turn, input: Input): unknown
}

/** One call with its input, for a forge and for the model. */
export interface Step {
  readonly as: Who
  forge(subject: Subject): unknown
  model(turn: Turn): unknown
  toString(): string
}

export function callerOf(as: Who): Caller<Actor> {
  return as === 'anonymous' || as === 'system' ? as : { id: WHO_IDS[as] }
}

export function stepOf<Input>(name: string, call: Call<Input>, as: Who, input: Input): Step {
  return {
    as,
    forge: (subject) => call.forge(subject, callerOf(as), input),
    model: (turn) => call.model(turn, input),
    toString: () => `${name} ${JSON.stringify(input)} by ${as}`,
  }
}

/** Steps of a call, among others of some weight. */
export function drawn<Input>(
  weight: number,
  [name, call]: readonly [name: string, call: Call<Input>],
  input: fc.Arbitrary<Input>,
  by: fc.Arbitrary<Who> = who,
): fc.WeightedArbitrary<Step> {
  return { weight, arbitrary: fc.tuple(by, input).map(([as, given]) => stepOf(name, call, as, given)) }
}

export const system: fc.Arbitrary<Who> = fc.constant('system')
const who: fc.Arbitrary<Who> = fc.oneof(
  { weight: 16, arbitrary: fc.constant('owner') },
  { weight: 2, arbitrary: system },
  { weight: 1, arbitrary: fc.constantFrom('stranger', 'outsider', 'anonymous') },
)
/** The first more often, so that a run goes deep somewhere. */
export const organizationId: fc.Arbitrary<string> = fc.constantFrom(...ORGANIZATIONS, ...ORGANIZATIONS.slice(0, 1))
export const userId: fc.Arbitrary<string> = fc.constantFrom(...USERS)

/** The time of a step: a second after the step before. */
export function momentOf(step: number): Date {
  return new Date(1_700_000_000_000 + 1000 * step)
}
