import { promiseTry, runMaybeAsync } from '../../../schema/sync-or-async.ts'
import type { Session } from '../session.ts'
import type { CopiedDatabase } from './copied-database.ts'
import { overviewOf, refused, statesOf, tablesOf } from './copied-database.ts'
import type { CopyOptions, CopyReport } from './copy-options.ts'
import { CopyTarget } from './copy-target.ts'
import { EventPositions } from './event-positions.ts'
import type { CopiedRow, TableRows } from './table-rows.ts'
import { charactersOf } from './table-rows.ts'

/** The most rows that are read at once, and the characters that they should have at most. */
const MAX_ROWS = 200
const MAX_CHARACTERS = 500_000

/** Copies all tables of a database, as they are at one moment, into another, whose tables are empty. */
export async function copyTables(from: CopiedDatabase, to: CopiedDatabase, options: CopyOptions): Promise<CopyReport> {
  const ids = from.context.ids.text
  if (ids !== to.context.ids.text) {
    throw new TypeError(`the database stores ids as ${ids}: open the storage with the same ids`)
  }
  const [tables, target] = [tablesOf(from), new CopyTarget(to, options.inTarget)]
  const { overview, positions } = await inSnapshot(from, async (session) => {
    const overview = await runMaybeAsync(overviewOf(session, from, tables))
    await target.prepare(options.empty === true)
    await target.begin()
    const positions = new EventPositions(
      from.context.dialect.outboxOrder,
      to.context.dialect.outboxOrder,
      overview.outbox,
    )
    const total = overview.states.reduce((sum, { count }) => sum + count, 0)
    let [rows, bytes] = [0, 0]
    for (const [at, table] of tables.entries()) {
      for await (const page of pagesOf(session, table, options.signal)) {
        await target.insert(
          at,
          page.map((row) => moved(table.name, row, positions)),
        )
        rows += page.length
        bytes += sizeOf(page)
        options.onProgress?.({ rows, total, bytes })
      }
    }
    return { overview, positions }
  })

  const states = await inSnapshot(from, async (session) => runMaybeAsync(statesOf(session, tables)))
  if (JSON.stringify(states) !== JSON.stringify(overview.states)) {
    throw refused('source-changed', 'the source has changed meanwhile: stop what writes to it, and copy again')
  }
  await target.end(overview, positions)
  const rows = tables.map(({ name }, at) => [name, overview.states[at]?.count ?? 0] as const)
  return { rows: Object.fromEntries(rows), renumberedEvents: positions.renumbered }
}

/** Runs work once on a connection that sees a database as it is now, until the work is done, however long that takes. */
function inSnapshot<T>({ context, runtime }: CopiedDatabase, work: (session: Session) => Promise<T>): Promise<T> {
  const { begin, end } = context.dialect.copying
  const attempt = async (session: Session): Promise<T> => {
    try {
      await session.batch(begin)
      return await work(session)
    } finally {
      await promiseTry(() => session.batch(end)).catch(() => undefined) // the connection may be lost
    }
  }
  return runtime.onConnection(attempt, { milliseconds: Number.POSITIVE_INFINITY })
}

/** Returns a row as it is inserted. A consumer has no lease there: its process works on the source. */
function moved(table: string, row: CopiedRow, positions: EventPositions): CopiedRow {
  if (table === 'events') return positions.moved(row)
  return table === 'consumers' ? { ...row, holder: null, until: 0 } : row
}

/** Yields all rows of a table. A page has fewer rows if they are large. */
async function* pagesOf(
  session: Session,
  table: TableRows,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly CopiedRow[], void, void> {
  let [last, limit]: [CopiedRow | undefined, number] = [undefined, MAX_ROWS]
  for (;;) {
    signal?.throwIfAborted()
    const page: readonly CopiedRow[] = await session.all(table.page(last, limit))
    last = page.at(-1)
    if (last === undefined) return
    yield page
    limit = Math.max(1, Math.min(MAX_ROWS, Math.floor((page.length * MAX_CHARACTERS) / sizeOf(page))))
  }
}

function sizeOf(page: readonly CopiedRow[]): number {
  return page.reduce((sum, row) => sum + charactersOf(row), 0)
}
