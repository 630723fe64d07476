import type { Decision, EventDraft, EventSubject, Id, MaybePromise, Page, RuleEvent } from '../../../index.ts'
import type {
  AggregateStore,
  Authorship,
  BeforeCommit,
  ForgeStorage,
  Outcome,
  PageQuery,
} from '../../../storage/storage.ts'

/** The optional parts of a sample change, besides its decision. */
export interface Extras<Tx> {
  readonly by?: Authorship
  readonly beforeCommit?: BeforeCommit<Tx> | undefined
  readonly signal?: AbortSignal | undefined
  readonly transaction?: Tx | undefined
}

/** The default time of a sample change. */
export const NOON: Date = new Date('2024-05-06T12:00:00.123Z')

/** The default author of a sample change. */
export const AUTHOR: Authorship = { actorId: '7', at: () => new Date(NOON) }

/** The subject fields of an event that concerns no subject of the host. */
export const NO_SUBJECT = { organizationId: null, repositoryId: null, issueId: null, userId: null } as const

/** Makes one change of one aggregate. If the call throws synchronously, the promise rejects. */
export async function change<Key, State, Result, Tx>(
  store: AggregateStore<Key, State, Tx>,
  key: Key,
  decide: (state: State, at: Date) => Decision<State, Result, EventDraft>,
  extras: Extras<Tx> = {},
): Promise<Outcome<Result>> {
  return store.update(key, { decide, by: AUTHOR, ...extras })
}

/** Decides to leave a state as it is, and returns a copy of it. */
export function left<State>(state: State): { state: State; events: []; result: State } {
  return { state, events: [], result: structuredClone(state) }
}

/** Decides to replace a state, without an event. */
export function replaced<State>(state: State): Decision<State, undefined, EventDraft> {
  return { state, events: [], result: undefined }
}

/** Adds the subject to the events of a rule's decision. */
export function about<State, Result>(
  subject: Partial<EventSubject>,
  { events, ...decided }: Decision<State, Result>,
): Decision<State, Result, EventDraft> {
  return { ...decided, events: events.map((event) => ({ ...NO_SUBJECT, ...subject, ...event })) }
}

/** The ids and slugs that reads and drawn changes are about. No id is that of an issue and of a pull request. */
export interface Names {
  readonly repositories: Choices<Id>
  readonly organizations: Choices<Id>
  readonly users: Choices<Id>
  readonly issues: Choices<Id>
  readonly pullRequests: Choices<Id>
  readonly slugs: Choices<string>
}

/** Reads, each with what it reads. */
export type Reads = readonly (readonly [what: string, read: () => unknown])[]

/** Lists that are read in pages. */
export type Lists = readonly (readonly [
  what: string,
  read: (query: PageQuery) => MaybePromise<Page<unknown> | undefined>,
])[]

/** A drawn change. */
type Run = <Tx>(storage: ForgeStorage<Tx>, extras: Extras<Tx>) => Promise<unknown>

/** One kind of drawn changes. */
export interface Kind {
  /** How often it is drawn, of the sum of all. */
  readonly share: number
  /** Draws what a change needs. Returns it, for the name of the change, and the change. */
  draw(draw: Draw, names: Names): readonly [input: unknown, run: Run]
}

/** Creates a kind of drawn changes from a function that draws the input of a change, and one that makes the change. */
export function kind<Input>(
  share: number,
  drawn: (draw: Draw, names: Names) => Input,
  make: <Tx>(storage: ForgeStorage<Tx>, input: Input, extras: Extras<Tx>) => Promise<unknown>,
): Kind {
  return {
    share,
    draw(draw, names) {
      const input = drawn(draw, names)
      return [input, (storage, extras) => make(storage, input, extras)]
    },
  }
}

/** Replaces the decision of a sample change. */
export type Instead = <State>(
  decision: Decision<State, unknown, EventDraft>,
  state: State,
  at: Date,
) => Decision<State, unknown, EventDraft>

/** One store: a change of one of its aggregates, its reads, and the changes that are drawn. */
export interface AggregateSample {
  /** The aggregate of the change, with its article. */
  readonly name: string
  /** Creates the data that the change needs. */
  prepare<Tx>(storage: ForgeStorage<Tx>): Promise<unknown>
  /** Changes the aggregate. Each call has an effect and one event, unless it is decided otherwise. */
  alter<Tx>(storage: ForgeStorage<Tx>, extras?: Extras<Tx> & { readonly instead?: Instead }): Promise<Outcome<unknown>>
  /** Everything that the store has about some names, except for its lists. */
  reads<Tx>(storage: ForgeStorage<Tx>, names: Names, transaction?: Tx): Reads
  /** The lists of the store. */
  lists<Tx>(storage: ForgeStorage<Tx>, names: Names, transaction?: Tx): Lists
  /** The aggregates as changes see them that leave them as they are. */
  states<Tx>(storage: ForgeStorage<Tx>, names: Names): Reads
  /** The kinds of drawn changes, by name. */
  readonly kinds: Readonly<Record<string, Kind>>
}

/** What a sample is made of. */
interface Parts<Key, State> extends Pick<AggregateSample, 'name' | 'reads' | 'kinds'> {
  readonly store: <Tx>(storage: ForgeStorage<Tx>) => AggregateStore<Key, State, Tx>
  readonly prepare?: AggregateSample['prepare']
  readonly lists?: AggregateSample['lists']
  /** The keys of the aggregates about some names. */
  readonly keys: (names: Names) => readonly Key[]
  /** The key of the aggregate that the sample changes. */
  readonly key: Key
  readonly alter: (state: State) => Decision<State, unknown, EventDraft>
}

const asDecided: Instead = (decision) => decision

/** Creates the sample of a store. */
export function sampleOf<Key, State>({ store, keys, key, alter, ...parts }: Parts<Key, State>): AggregateSample {
  return {
    prepare: async () => undefined,
    lists: () => [],
    ...parts,
    alter: (storage, { instead = asDecided, ...extras } = {}) =>
      change(store(storage), key, (state, at) => instead(alter(state), state, at), extras),
    states: (storage, names) =>
      keys(names).map((one) => [
        `${parts.name} ${JSON.stringify(one)} as a change sees it`,
        () => change(store(storage), one, left),
      ]),
  }
}

/** The decision of a sample change: a new state and an event. */
export function altered<State>(
  state: State,
  event: RuleEvent,
  subject: Partial<EventSubject> = {},
): Decision<State, unknown, EventDraft> {
  return about(subject, { state, events: [event], result: 'altered' })
}

/** One choice or more. */
export type Choices<T> = readonly [T, ...T[]]

/** Texts that a storage may store wrongly. */
export const TEXTS: Choices<string> = ['', ' ', 'naïve 🦉 e\u0301', '0042', `quotes ' " \\ and\nlines`, 'null']

/** Choices from a pseudo-random generator (mulberry32): the same for the same seed. */
export class Draw {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** Draws an integer from 0 to less than `count`. */
  below(count: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    const mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    const again = mixed ^ (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61))
    return ((again ^ (again >>> 14)) >>> 0) % count
  }

  /** Draws one of the choices. */
  one<T>(choices: Choices<T>): T {
    const drawn = choices[this.below(choices.length)]
    return drawn === undefined ? choices[0] : drawn
  }

  /** Draws some of the choices, or none. */
  some<T>(choices: readonly T[]): readonly T[] {
    return choices.filter(() => this.below(2) === 0)
  }
}
