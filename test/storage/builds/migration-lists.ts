// Lists of migrations as other releases have them; each is the text of src/storage/sql/schema/all-migrations.ts.

const IMPORTS = `
  import { ALL_MIGRATIONS as ours } from 'ours'
  import { schemaStatement } from '../dialect.ts'
`

/** The release before this one: without the newest step. */
export const PREVIOUS: string = `${IMPORTS} export const ALL_MIGRATIONS = ours.slice(0, -1)`

/** This release. */
export const THIS: string = `${IMPORTS} export const ALL_MIGRATIONS = ours`

/** A minor release after this one: a column, a table and an index more. */
export const NEXT_MINOR: string = next(1)

/** A major release after this one: this one cannot use its tables. */
export const NEXT_MAJOR: string = next('version')

function next(oldestLibrary: 1 | 'version'): string {
  return `${IMPORTS}
    const version = ours.length + 1
    const next = {
      version,
      oldestLibrary: ${oldestLibrary},
      indexes: () => [{ name: 'events_at', table: 'events', columns: ['at', 'id'] }],
      statements: ({ build, prefix, dialect: { types, tableEnd } }) => [
        build.schema.alterTable('board_pins').addColumn('note', types.text),
        build.schema
          .createTable(prefix + 'notes')
          .addColumn('id', types.integer, (id) => id.primaryKey())
          .modifyEnd(tableEnd),
      ].map(schemaStatement),
    }
    export const ALL_MIGRATIONS = [...ours, next]
  `
}
