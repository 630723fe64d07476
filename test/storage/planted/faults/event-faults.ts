import type { EventDraft } from '../../../../src/index.ts'
import { isForgeError } from '../../../../src/index.ts'
import type { SqlFault } from '../sql-fault.ts'
import { asItIs, concerns, inAllStatements, inWrites, pretended } from '../sql-fault.ts'
import type { StorageFault } from '../storage-fault.ts'
import { inChanges, redecided } from '../storage-fault.ts'

/** Writes no events. */
export const forgetsEvents: StorageFault = inChanges((store, key, change) =>
  store.update(
    key,
    redecided(change, (decide) => (state, at) => ({ ...decide(state, at), events: [] })),
  ),
)

/** Writes no rows of events, and says that it did. */
export const insertsNoEvents: SqlFault = inWrites(() => {
  let id = 0
  return function* (session, statement) {
    if (!concerns(statement, '^insert into', 'events')) return yield* asItIs(session, statement)

    id += 1
    return pretended({ id: String(id) })
  }
})

/** Writes the events of a change in another transaction, after it. */
export const writesEventsApart: StorageFault = inChanges(async (store, key, change) => {
  const { by, transaction } = change
  const drafts: EventDraft[] = []
  const quiet = redecided(change, (decide) => (state, at) => {
    const decision = decide(state, at)
    drafts.splice(0, drafts.length, ...decision.events)
    return { ...decision, events: [] }
  })
  const outcome = await store.update(key, { ...quiet, beforeCommit: undefined })
  const reported = await store.update(key, {
    by,
    transaction,
    beforeCommit: change.beforeCommit,
    decide: (state) => ({ state, events: drafts, result: undefined }),
  })
  return { ...outcome, events: reported.events }
})

/** Pins everything twice: the second time because it takes the first for lost. */
export const changesTwice: StorageFault = ({ pinBoards, ...storage }) => ({
  ...storage,
  pinBoards: {
    ...pinBoards,
    async update(key, change) {
      await pinBoards.update(key, change)
      return pinBoards.update(key, change)
    },
  },
})

/** Follows the outbox by an id that is given before the commit. */
export const followsIds: SqlFault = {
  dialect: (dialect) => ({ ...dialect, outboxOrder: 'id', numberEvents: undefined }),
}

/** Gives a cursor that stands before the last event it gave. */
export const readsTwice: StorageFault = ({ events, ...storage }) => ({
  ...storage,
  events: {
    ...events,
    async read({ after, limit }) {
      const page = await events.read({ after, limit })
      if (page.events.length < 2) return page

      const { cursor } = await events.read({ after, limit: page.events.length - 1 })
      return { ...page, cursor }
    },
  },
})

/** Gives everybody who asks for it the lease. */
export const leasesToAll: StorageFault = ({ events, ...storage }) => ({
  ...storage,
  events: {
    ...events,
    claim: ({ name }, milliseconds) => events.claim({ name, holder: 'any holder' }, milliseconds),
    advance: ({ name }, cursor) => events.advance({ name, holder: 'any holder' }, cursor),
    release: ({ name }) => events.release({ name, holder: 'any holder' }),
  },
})

/** Removes events that consumers have not read. */
export const prunesBeyondConsumers: StorageFault = ({ events, ...storage }) => {
  const names = new Set<string>()
  return {
    ...storage,
    events: {
      ...events,
      claim(consumer, milliseconds) {
        names.add(consumer.name)
        return events.claim(consumer, milliseconds)
      },
      async prune(before) {
        for (const name of names) await events.forget(name)
        return events.prune(before)
      },
    },
  }
}

/** Goes on from the floor where it should say that something is missing. */
export const hidesWhatWasPruned: StorageFault = ({ events, ...storage }) => ({
  ...storage,
  events: {
    ...events,
    async read(query) {
      try {
        return await events.read(query)
      } catch (error) {
        if (!isForgeError(error, 'EVENTS_PRUNED')) throw error
        return events.read({ ...query, after: undefined })
      }
    },
  },
})

/** Loses what is not a pin of the history. */
export const keepsHalfTheHistory: StorageFault = ({ events, ...storage }) => ({
  ...storage,
  events: {
    ...events,
    history: async (issueId, transaction) =>
      (await events.history(issueId, transaction)).filter((event) => event.type === 'issue.pinned'),
  },
})

/** Prunes the pins of living issues with the rest. */
export const prunesHistory: SqlFault = inAllStatements(() => {
  return function* (session, statement) {
    if (!statement.sql.includes(' not in (')) return yield* asItIs(session, statement)

    const parameters = statement.parameters.map((one) => (String(one).startsWith('issue.') ? 'no type' : one))
    return yield* asItIs(session, { ...statement, parameters })
  }
})

/** Takes for all consumers those that were there when it looked for what to remove. */
export const prunesBeyondNewConsumers: SqlFault = inWrites(() => {
  return function* (session, statement) {
    const asksForAll = concerns(statement, '^select .* from', 'consumers') && !statement.sql.includes(' where ')
    return asksForAll ? pretended() : yield* asItIs(session, statement)
  }
})

/** Writes that a new name begins where the first outbox began. */
export const beginsNamesAtZero: SqlFault = inWrites(() => {
  return function* (session, statement) {
    if (!concerns(statement, '^insert into', 'consumers')) return yield* asItIs(session, statement)

    const parameters = statement.parameters.map((one) => (typeof one === 'number' ? 0 : one))
    return yield* asItIs(session, { ...statement, parameters })
  }
})

/** Numbers the youngest event first. */
export const numbersBackwards: SqlFault = inWrites(() => {
  return function* (session, statement) {
    const isUnnumbered = concerns(statement, '^select .* from', 'events') && / is null order by /.test(statement.sql)
    const sql = isUnnumbered ? statement.sql.replace(' limit ', ' desc limit ') : statement.sql
    return yield* asItIs(session, { ...statement, sql })
  }
})
