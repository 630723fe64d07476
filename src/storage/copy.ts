import type { OptionRules } from '../schema/options.ts'
import { ANY, checkOptions, FUNCTION, optional } from '../schema/options.ts'
import type { ForgeStorage } from './contract/storage.ts'
import type { CopyOptions, CopyReport } from './sql/copy/copy-options.ts'
import { copyTables } from './sql/copy/copy-tables.ts'
import { groundOf } from './sql/stores/ground.ts'

// "forgelet/storage/copy": what copies a forge to another database.

export type * from './sql/copy/copy-options.ts'

/**
 * Copies the tables of a forge to another database, as they are at one moment: SQLite, PostgreSQL and MariaDB in every
 * direction. The target must be empty; its tables are made by `migrate()`, and no one can use them until the copy has ended.
 * Cursors and consumers of events go on where they stood, and ids that the source has assigned are not assigned again. Of
 * the tables of the host those are copied that the options name: if the target knows others (`tables`), copy them first. Nothing else may use these two storages
 * meanwhile, and nothing may write to the source.
 * Source: docs/behaviour.md, Copies
 *
 * ```ts
 * const { rows } = await copyForge(sqliteStorage('forge.sqlite'), postgresStorage(pool))
 * ```
 *
 * @param from - a storage in SQLite, PostgreSQL or MariaDB, with all options of its tables
 * @param to - another, with the same `ids`
 * @throws ForgeError `COPY_REFUSED`; every error of `migrate()` and of a storage; TypeError if an argument is invalid, or if ids
 * are stored in other columns; the reason of the signal
 */
export async function copyForge<A, B>(
  from: ForgeStorage<A>,
  to: ForgeStorage<B>,
  options: CopyOptions = {},
): Promise<CopyReport> {
  const [source, target] = [groundOf(from), groundOf(to)]
  const storage = 'a storage in SQLite, PostgreSQL or MariaDB'
  if (source === undefined) throw new TypeError(`copyForge needs from: ${storage}`)
  if (target === undefined) throw new TypeError(`copyForge needs to: ${storage}`)
  checkOptions('copyForge', options, RULES)
  const { tables = [] } = options
  const located = (side: 'from' | 'to') => tables.map((table) => ({ ...table, location: table[side] ?? table.from }))
  return copyTables(
    { ...source, hosts: located('from'), migrate: () => from.migrate() },
    { ...target, hosts: located('to'), migrate: () => to.migrate() },
    options,
  )
}

const RULES: OptionRules<CopyOptions> = {
  empty: ANY,
  signal: ANY,
  onProgress: FUNCTION,
  tables: optional(Array.isArray, 'a list of tables'),
  inTarget: FUNCTION,
}
