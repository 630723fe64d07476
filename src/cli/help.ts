import type { Command, OptionSpec } from './options.ts'
import { COMMON_OPTIONS, OPENAPI_OPTIONS, SCHEMA_OPTIONS, SERVE_OPTIONS } from './options.ts'

/** What `forgelet --help` shows. */
export function mainHelp(): string {
  return `forgelet - issue pins, organization blocks, badges and signing keys of a code forge

Usage
  forgelet serve [options]                       serve them over the Gitea API, from one SQLite file
  forgelet schema status|plan|apply [options]    look at the tables of a database, and make them
  forgelet openapi [options]                     write the OpenAPI document of that API
  forgelet COMMAND --help                        the options of a command

${optionList(COMMON_OPTIONS)}`
}

/** What `--help` shows after the name of a command. */
export function commandHelp(command: Command): string {
  return HELP[command]()
}

const HELP: { readonly [C in Command]: () => string } = {
  serve: serveHelp,
  schema: schemaHelp,
  openapi: openapiHelp,
}

function serveHelp(): string {
  return `forgelet serve - a small code forge over the Gitea API, from one SQLite file

Usage
  forgelet serve [options]

Options
${optionList(SERVE_OPTIONS)}

${optionList(COMMON_OPTIONS)}

Examples
  forgelet serve --fixture world.json
  forgelet serve --db :memory: --port 8080 --fixture world.yaml --signing-key key.asc

The environment variable FORGELET_DB is used where --db is not given.
The API is at http://HOST:PORT/api/v1, and a page to read about it and try it at
http://HOST:PORT/api/swagger. The fixture format is in docs/fixture.md.
Exit codes: 0 stopped as asked, 1 invalid fixture or key, 2 wrong usage or port in use,
3 the database cannot be used.`
}

function schemaHelp(): string {
  return `forgelet schema - the tables that keep pins, blocks, badges and events

Usage
  forgelet schema status [options]    how they are, and what endangers the data
  forgelet schema plan [options]      the SQL that makes them, without a connection
  forgelet schema apply [options]     make them, or bring them up to date, while they are in use

Options
${optionList(SCHEMA_OPTIONS)}

${optionList(COMMON_OPTIONS)}

Examples
  forgelet schema plan --db postgres:// --schema forge --ids user=uuid > forgelet.sql
  forgelet schema apply --db postgres://forge@db.example.com/forge
  forgelet schema status --db forgelet.sqlite --json

The environment variable FORGELET_DB is used where --db is not given: a password in it is not on
the command line, which every user of the machine can read.
status prints current, outdated, too-new, drifted or empty, and warnings.
Exit codes: 0 done (status: current, and no warnings), 1 status: anything else, 2 wrong usage,
3 the database cannot be used.`
}

function openapiHelp(): string {
  return `forgelet openapi - the OpenAPI 3.1 document of the API, as JSON

Usage
  forgelet openapi [options]

Options
${optionList(OPENAPI_OPTIONS)}

${optionList(COMMON_OPTIONS)}

Examples
  forgelet openapi -o openapi.json
  forgelet openapi --public-url https://git.example.com

It is what "forgelet serve" has at /api/v1/openapi.json; no server or database is needed.
With --json it is one line. Exit codes: 0 done, 2 wrong usage or the file cannot be written.`
}

function optionList(options: { readonly [name: string]: OptionSpec }): string {
  return Object.entries(options).map(optionLine).join('\n')
}

function optionLine([name, { short, value, help, standard }]: readonly [string, OptionSpec]): string {
  const left = `--${name}${short === undefined ? '' : `, -${short}`}${value === undefined ? '' : ` ${value}`}`
  const right = standard === undefined ? help : `${help} (default ${standard})`
  return `  ${left.padEnd(20)} ${right}`
}
