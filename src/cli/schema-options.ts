import type { IdColumns } from '../storage/sqlite.ts'
import { CommandError } from './command-error.ts'
import type { DatabaseAddress } from './database-address.ts'
import { databaseSetting, parseDatabase } from './database-address.ts'
import type { OptionValues } from './options.ts'
import type { Environment } from './terminal.ts'

/** What `forgelet schema` is told to do. */
export type SchemaAction = 'status' | 'plan' | 'apply'

/** What `forgelet schema` is told, as far as it can be checked without a storage. */
export interface SchemaOptions {
  readonly action: SchemaAction
  readonly database: DatabaseAddress
  readonly prefix: string | undefined
  readonly schema: string | undefined
  readonly ids: IdColumns
  /** Of `plan`: the version that the tables have. */
  readonly from: number
  readonly json: boolean
}

/**
 * Checks the words and options of `forgelet schema`.
 * @throws CommandError (wrong usage)
 */
export function schemaOptions(words: readonly string[], values: OptionValues, environment: Environment): SchemaOptions {
  const action = actionNamed(words)
  const database = parseDatabase(databaseSetting(values.db, environment.FORGELET_DB))
  if (values.schema !== undefined && database.kind !== 'postgres') {
    throw new CommandError(2, '--schema is for PostgreSQL: leave it out, or give a postgres:// URL with --db')
  }
  if (values.from !== undefined && action !== 'plan') {
    throw new CommandError(2, `--from is for "forgelet schema plan": the database itself tells it to ${action}`)
  }
  if (database.location === ':memory:' && action !== 'plan') {
    throw new CommandError(2, '--db :memory: is gone with this command: give a file, or a URL')
  }
  return {
    action,
    database,
    prefix: values.prefix,
    schema: values.schema,
    ids: idColumns(values.ids ?? ''),
    from: version(values.from ?? '0'),
    json: values.json === true,
  }
}

function actionNamed([action, ...others]: readonly string[]): SchemaAction {
  if (others.length > 0) throw new CommandError(2, `unexpected argument "${others[0]}": options start with "--"`)
  if (action === 'status' || action === 'plan' || action === 'apply') return action
  throw new CommandError(2, 'say what to do with the schema: "status", "plan" or "apply"; see "forgelet schema --help"')
}

const KINDS = ['user', 'organization', 'repository', 'issue'] as const
const COLUMNS = ['bigint', 'uuid', 'text'] as const

function idColumns(text: string): IdColumns {
  if (text === '') return {}

  return Object.assign({}, ...text.split(',').map((pair) => idColumn(text, pair)))
}

function idColumn(text: string, pair: string): IdColumns {
  const [kindNamed, columnNamed, ...others] = pair.split('=')
  const kind = KINDS.find((known) => known === kindNamed)
  const column = COLUMNS.find((known) => known === columnNamed)
  if (kind !== undefined && column !== undefined && others.length === 0) return { [kind]: column }
  throw new CommandError(
    2,
    `--ids ${text}: write such as user=uuid,issue=text, of the kinds ${KINDS.join(', ')} and the types ${COLUMNS.join(', ')}`,
  )
}

function version(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text)
  throw new CommandError(2, `--from ${text}: give the version of the tables, a whole number`)
}
