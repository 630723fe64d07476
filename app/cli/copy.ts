import type { Command } from '@commander-js/extra-typings'
import { isForgeError } from 'forgelet'
import type { CopyProgress } from 'forgelet/storage/copy'
import { copyDatabase } from '../standalone/host-store/open-host-database.ts'
import type { CommandIO } from './command.ts'
import { CommandError, counted, newCommand, printResult, progress } from './command.ts'
import type { DatabaseNames } from './database.ts'
import { BY_DB, databaseOf, existingDatabase, onDatabase } from './database.ts'
import { IDS, idColumns, TABLES, tablesIn } from './schema.ts'

const HELP = `
  forgelet copy --from forgelet.sqlite --to postgres://forge@db.example.com/forge
  FORGELET_DB=mysql://… FORGELET_TO=postgres://… forgelet copy --json

Stop what writes to the source, and start it again with the target. The target must be empty; its
tables are created. Everything is copied: "forgelet serve" answers the same from both. The database
of an application is copied without the tables of the application.
Until a copy has ended, its target cannot be used. --empty removes what an interrupted one left.`

const FROM: DatabaseNames = { ...BY_DB, option: '--from', schema: '--from-schema' }
const TO: DatabaseNames = { option: '--to', schema: '--to-schema', variable: 'FORGELET_TO', file: '' }

/** Adds `forgelet copy`. */
export function addCopy(program: Command, io: CommandIO): void {
  newCommand(program, 'copy', 'copy a database to another, of any kind', HELP)
    .option('--from <url|file>', 'database to copy (default: FORGELET_DB, or forgelet.sqlite)')
    .option('--to <url|file>', 'empty database, or a new SQLite file (default: FORGELET_TO)')
    .option('--empty', 'first empty a target that an interrupted copy has left')
    .option('--from-prefix <prefix>', 'prefix of every table name in the source')
    .option('--to-prefix <prefix>', 'prefix of every table name in the target')
    .option('--from-schema <schema>', 'schema of the tables in the source, on PostgreSQL')
    .option('--to-schema <schema>', 'schema of the tables in the target, on PostgreSQL')
    .option('--ids <list>', IDS, idColumns)
    .option('--tables <file>', TABLES)
    .action(async (options) => {
      const { from, to, fromPrefix, fromSchema, toPrefix, toSchema, empty, json } = options
      const source = existingDatabase({ db: from, prefix: fromPrefix, schema: fromSchema }, io, FROM)
      const target = databaseOf({ db: to, prefix: toPrefix, schema: toSchema }, io, TO)
      if (target.db === ':memory:') throw new CommandError(2, '--to :memory: would be lost: give a file, or a URL')
      const tables = await tablesIn(options)
      const beganAt = performance.now()
      const show = ({ rows, total, bytes }: CopyProgress): void => {
        const size = rows === total ? bytes : (bytes / rows) * total
        io.showStatus?.(`copying ${progress(counted(rows, 'row'), bytes, performance.now() - beganAt, size)}`)
      }
      const copying = onDatabase(source, () =>
        copyDatabase(source, target, {
          tables,
          empty,
          signal: io.stop,
          onProgress: json ? undefined : show,
          inTarget: (work) => onDatabase(target, work),
        }),
      )
      const { rows, renumberedEvents } = await copying.catch(refusal(io)).finally(() => io.showStatus?.(''))
      const renumbered = `${counted(renumberedEvents, 'event')} with a new id: receivers that know events by id must forget them`
      printResult(io, options, { from: source.shown, to: target.shown, rows, renumberedEvents }, [
        ...Object.entries(rows).map(([table, count]) => `${table}: ${count.toLocaleString('en')}`),
        ...(renumberedEvents === 0 ? [] : [renumbered]),
        `copied to ${target.shown}`,
      ])
    })
}

function refusal({ stop }: CommandIO): (error: unknown) => never {
  return (error) => {
    if (stop.aborted)
      throw new CommandError(3, 'stopped before the end: the target is not complete; copy again with --empty')
    throw isForgeError(error, 'COPY_REFUSED') ? new CommandError(1, error.message) : error
  }
}
