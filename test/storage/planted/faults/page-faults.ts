import type { SyncOrAsync } from '../../../../src/schema/sync-or-async.ts'
import { wait } from '../../../../src/schema/sync-or-async.ts'
import type { Statement } from '../../../../src/storage/sql/query.ts'
import { turns } from '../../../../src/testing/testing.ts'
import type { SqlFault } from '../sql-fault.ts'
import { asItIs, concerns, inAllStatements, plainly, pretended, sessionOver } from '../sql-fault.ts'
import type { StorageFault } from '../storage-fault.ts'

/** Lists boards in the order of ids. */
export const ordersById: StorageFault = ({ pinBoards, ...storage }) => ({
  ...storage,
  pinBoards: {
    ...pinBoards,
    load: async (key, transaction) =>
      (await pinBoards.load(key, transaction)).toSorted((one, other) => one.issueId.localeCompare(other.issueId)),
  },
})

/** Writes places with gaps between them, and takes them for places without. */
export const leavesGaps: SqlFault = inAllStatements(() => {
  return function* (session, statement) {
    if (!concerns(statement, '^insert into', 'board_pins')) return yield* asItIs(session, statement)

    const before = statement.sql.slice(0, statement.sql.search(/["`]position["`]/))
    const position = before.split(',').length - 1
    const parameters = statement.parameters.map((one, index) => (index === position ? 2 * Number(one) : one))
    return yield* asItIs(session, { ...statement, parameters })
  }
})

/** Reads a board in two halves. */
export const readsInHalves: StorageFault = ({ pinBoards, ...storage }) => ({
  ...storage,
  pinBoards: {
    ...pinBoards,
    async load(key, transaction) {
      const first = await pinBoards.load(key, transaction)
      await turns(2)
      const second = await pinBoards.load(key, transaction)
      return [...first.slice(0, 3), ...second.slice(3)]
    },
  },
})

/** Counts blocks at another moment than it lists them. */
export const countsLater: StorageFault = ({ blocks, ...storage }) => ({
  ...storage,
  blocks: {
    ...blocks,
    async page(organizationId, query, transaction) {
      const page = await blocks.page(organizationId, query, transaction)
      await turns(2)
      const { total } = await blocks.page(organizationId, query, transaction)
      return { ...page, total }
    },
  },
})

/** Keeps the totals of the audit view, and adds only the events with higher ids. */
export const countsHigherIds: StorageFault = ({ events, ...storage }) => {
  const known = new Map<string, { readonly last: bigint; readonly total: number }>()
  return {
    ...storage,
    events: {
      ...events,
      async list(filter, query) {
        const page = await events.list(filter, query)
        const { items } = await events.list(filter, { from: { page: 1 }, limit: 1000 })
        const { last, total } = known.get(JSON.stringify(filter)) ?? { last: 0n, total: 0 }
        const newer = items.filter(({ id }) => BigInt(id) > last)
        const counted = { last: BigInt(newer[0]?.id ?? last), total: total + newer.length }
        known.set(JSON.stringify(filter), counted)
        return { ...page, total: counted.total }
      },
    },
  }
}

/** Counts blocks outside of the transaction in which it lists them. */
export const countsOutside: StorageFault = ({ blocks, ...storage }) => ({
  ...storage,
  blocks: {
    ...blocks,
    async page(organizationId, query, transaction) {
      const page = await blocks.page(organizationId, query, transaction)
      const { total } = await blocks.page(organizationId, query)
      return { ...page, total }
    },
  },
})

/** Reads the rows of a page in one statement, and its total in another. */
export const countsInAnotherStatement: SqlFault = {
  runtime: (runtime) => ({
    ...plainly(runtime),
    read(work, transaction) {
      const session = sessionOver((statement) => counted(statement), { lend: (call) => call() })
      return work(session)

      function* counted<Row>(statement: Statement<Row>): SyncOrAsync<readonly Row[]> {
        const rows = yield* wait(runtime.read((each) => each.all(statement), transaction))
        const isPage =
          concerns(statement, 'from', 'heads') && concerns(statement, 'from', '(organization_blocks|badges)')
        if (!isPage) return rows

        yield* wait(turns(2))
        const [later] = yield* wait(runtime.read((each) => each.all(statement), transaction))
        const totals: unknown = later
        const total = typeof totals === 'object' && totals !== null && 'total' in totals ? totals.total : 0
        return pretended<Row>(...rows.map((row) => ({ ...row, total })))
      }
    },
  }),
}

/** Takes a cursor for how many were passed, not for which. */
export const countsToCursors: StorageFault = ({ blocks, ...storage }) => {
  const passed = new Map<string, number>()
  return {
    ...storage,
    blocks: {
      ...blocks,
      async page(organizationId, query, transaction) {
        const { from, limit } = query
        const pageNumber = 'after' in from ? (passed.get(from.after) ?? 0) / limit + 1 : from.page
        const page = await blocks.page(organizationId, { from: { page: pageNumber }, limit }, transaction)
        if (page.cursor !== undefined) passed.set(page.cursor, pageNumber * limit)
        return page
      },
    },
  }
}
