import type { Statement } from '../query.ts'

/** The settings that decide whether committed data is durable. */
export const DURABILITY: Statement<{ readonly name: string; readonly setting: string }> = {
  sql:
    'select cast(name as text) as "name", cast(setting as text) as "setting" from pg_catalog.pg_settings ' +
    "where name in ('fsync', 'full_page_writes', 'synchronous_commit') order by name",
  parameters: [],
  returnsRows: true,
}

const WARNINGS: Readonly<Record<string, string>> = {
  fsync: 'the server has fsync = off: what is committed may be lost when its machine stops; set fsync = on',
  full_page_writes:
    'the server has full_page_writes = off: the database may be damaged when its machine stops; set it on',
  synchronous_commit:
    'connections have synchronous_commit = off: what withTransaction wrote may be lost when the server stops; set it on',
}

/** Returns warnings about settings that endanger committed data. */
export function warningsAbout(
  settings: readonly { readonly name: string; readonly setting: string }[],
): readonly string[] {
  return settings.filter(({ setting }) => setting === 'off').flatMap(({ name }) => WARNINGS[name] ?? [])
}
