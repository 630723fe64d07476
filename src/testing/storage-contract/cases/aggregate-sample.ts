import type { Decision, EventDraft, MaybePromise } from '../../../index.ts'
import type { AggregateStore, ForgeStorage, Outcome } from '../../../storage/storage.ts'
import type { Extras } from './sample-changes.ts'
import { AUTHOR, change, define } from './sample-changes.ts'

/** One aggregate and a change of it, for rules that apply to every aggregate. */
export interface AggregateSample {
  readonly name: string
  /** Creates the data that the change needs. */
  prepare<Tx>(storage: ForgeStorage<Tx>): Promise<void>
  /** Changes the aggregate. Each call has an effect and one event. */
  alter<Tx>(storage: ForgeStorage<Tx>, extras?: Extras<Tx>): Promise<Outcome<string>>
  /** Like `alter`, and returns the time of the decision. */
  time<Tx>(storage: ForgeStorage<Tx>, extras?: Extras<Tx>): Promise<Outcome<Date>>
  /** Decides to leave the aggregate unchanged. */
  leave<Tx>(storage: ForgeStorage<Tx>, extras?: Extras<Tx>): Promise<Outcome<string>>
  /** Like `alter`, and returns what `prepare` returned. */
  lookUp<Tx, Prepared>(
    storage: ForgeStorage<Tx>,
    prepare: (transaction: Tx) => MaybePromise<Prepared>,
    extras?: Extras<Tx>,
  ): Promise<Outcome<Prepared>>
  /** Throws in the decision. */
  refuse<Tx>(storage: ForgeStorage<Tx>, error: unknown, extras?: Extras<Tx>): Promise<Outcome<never>>
  /** Reads all data that the changes of this sample can change. */
  contents<Tx>(storage: ForgeStorage<Tx>): MaybePromise<unknown>
}

/** What a sample is made of: a store, one of its keys, and a change of that aggregate. */
interface Parts<Key, State> extends Pick<AggregateSample, 'name' | 'contents'> {
  readonly store: <Tx>(storage: ForgeStorage<Tx>) => AggregateStore<Key, State, Tx>
  readonly key: Key
  readonly alter: (state: State) => Decision<State, string, EventDraft>
}

/** Creates the sample of one store. */
export function aggregateSample<Key, State>({ store, key, alter, ...facts }: Parts<Key, State>): AggregateSample {
  return {
    ...facts,
    prepare: async (storage) => {
      await define(storage, 'night-owl')
    },
    alter: (storage, extras) => change(store(storage), key, alter, extras),
    time: (storage, extras) =>
      change(store(storage), key, (state, at) => ({ ...alter(state), result: new Date(at) }), extras),
    leave: (storage, extras) => change(store(storage), key, (state) => ({ state, events: [], result: 'left' }), extras),
    lookUp: async (storage, prepare, extras = {}) =>
      store(storage).update(key, {
        by: AUTHOR,
        ...extras,
        prepare: (_state, transaction) => prepare(transaction),
        decide: (state, _at, prepared) => ({ ...alter(state), result: prepared }),
      }),
    refuse: (storage, error, extras) =>
      change(
        store(storage),
        key,
        () => {
          throw error
        },
        extras,
      ),
  }
}
