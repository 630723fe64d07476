import type { Command, OptionSpec } from './options.ts'
import {
  COMMON_OPTIONS,
  CONVERT_OPTIONS,
  DOCTOR_OPTIONS,
  EXPORT_OPTIONS,
  IMPORT_OPTIONS,
  OPENAPI_OPTIONS,
  SCHEMA_OPTIONS,
  SERVE_OPTIONS,
  TOKEN_CREATE_OPTIONS,
  VALIDATE_OPTIONS,
} from './options.ts'

/** Returns the text that `forgelet --help` prints. */
export function mainHelp(): string {
  return `forgelet - issue pins, organization blocks, badges, signing keys and issues of a code forge

Usage
  forgelet serve [options]                        serve the Gitea API from a database
  forgelet schema status|plan|apply [options]     check and create the tables of a database
  forgelet issues validate|convert [options]      check and convert issues of any forge
  forgelet issues import|export [options]         move issues into a database, and out of it
  forgelet token create|list|revoke USER          the access tokens of a user of "forgelet serve"
  forgelet doctor [options]                       check the database of "forgelet serve"
  forgelet openapi [options]                      write the OpenAPI document of that API
  forgelet COMMAND --help                         the options of a command

${optionList(COMMON_OPTIONS)}`
}

/** Returns the text that `forgelet COMMAND --help` prints. */
export function commandHelp(command: Command): string {
  return HELP[command]()
}

const HELP: { readonly [C in Command]: () => string } = {
  serve: serveHelp,
  schema: schemaHelp,
  issues: issuesHelp,
  'issues validate': validateHelp,
  'issues convert': convertHelp,
  'issues import': importHelp,
  'issues export': exportHelp,
  token: tokenHelp,
  'token create': tokenHelp,
  'token list': tokenHelp,
  'token revoke': tokenHelp,
  doctor: doctorHelp,
  openapi: openapiHelp,
}

function serveHelp(): string {
  return `forgelet serve - a small code forge with the Gitea API, in SQLite, PostgreSQL or MariaDB

Usage
  forgelet serve [options]

Options
${optionList(SERVE_OPTIONS)}

${optionList(COMMON_OPTIONS)}

Examples
  forgelet serve --fixture world.json
  forgelet serve --db :memory: --port 8080 --fixture world.yaml --signing-key key.asc
  forgelet serve --db postgres://forge@db.example.com/forge --fixture world.json

${ENVIRONMENT}
Any number of servers can use one database. The first loads the fixture.
The API is at http://HOST:PORT/api/v1. Its documentation, where you can also send requests, is at
http://HOST:PORT/api/swagger. The fixture format is in docs/fixture.md.
/healthz is 200 while the process runs. /readyz is 200 while the server accepts requests and can use
its database, otherwise 503 with the reason.
SIGTERM or Ctrl-C: requests in progress finish, later ones get 503 with "Connection: close".
The log is on stderr, with --json one JSON object a line: time, level, message, and more fields.
Exit codes: 0 stopped by a signal, 1 invalid fixture or key, 2 wrong usage or port in use,
3 the database cannot be used, 130 or 143 ended by a second signal.`
}

function schemaHelp(): string {
  return `forgelet schema - the tables that keep pins, blocks, badges and events

Usage
  forgelet schema status [options]    show their state, and settings that endanger data
  forgelet schema plan [options]      print the SQL that creates them, without a connection
  forgelet schema apply [options]     create or update them, also while they are in use

Options
${optionList(SCHEMA_OPTIONS)}

${optionList(COMMON_OPTIONS)}

Examples
  forgelet schema plan --db postgres:// --schema forge --ids user=uuid > forgelet.sql
  forgelet schema apply --db postgres://forge@db.example.com/forge
  forgelet schema status --db forgelet.sqlite --json

${ENVIRONMENT}
status prints current, outdated, too-new, drifted or empty, and warnings.
Exit codes: 0 done (status: current, and no warnings), 1 status: anything else, 2 wrong usage,
3 the database cannot be used.`
}

const ENVIRONMENT = `The environment variable FORGELET_DB is used if --db is not given. Use it for a URL with a password:
other users of the machine can see the command line, but not the environment.`

const SOURCES = `SOURCE is a file, a folder that a forge wrote, or - for standard input: an issue document, a list
that GitHub or Gitea serves, a Gitea dump, or an unpacked GitLab export. docs/exchange.md describes
them, and what each of them loses.`

function issuesHelp(): string {
  return `forgelet issues - check, convert and move issues

Usage
  forgelet issues validate SOURCE [options]           check a source, and list what is wrong
  forgelet issues convert SOURCE -o OUT [options]     write it as an issue document or a Gitea dump
  forgelet issues import SOURCE --repo O/N [options]  write it into a repository of "forgelet serve"
  forgelet issues export --repo O/N [options]         write the issues of such a repository
  forgelet issues ACTION --help                       the options of an action

${optionList(COMMON_OPTIONS)}

${SOURCES}`
}

function validateHelp(): string {
  return `forgelet issues validate - check a source of issues, and list what is wrong

Usage
  forgelet issues validate SOURCE [options]

Options
${optionList(VALIDATE_OPTIONS)}

${optionList(COMMON_OPTIONS)}

Examples
  forgelet issues validate issues.json
  gh api --paginate 'repos/acme/rocket/issues?state=all' | forgelet issues validate - --json

${SOURCES}
The first 100 violations are listed, each with its file, line and JSON pointer, and what was
expected.
Exit codes: 0 valid, 1 not valid, 2 wrong usage or the source cannot be read, 3 stopped by a signal.`
}

function convertHelp(): string {
  return `forgelet issues convert - write a source of issues as an issue document or a Gitea dump

Usage
  forgelet issues convert SOURCE -o OUT [options]

Options
${optionList(CONVERT_OPTIONS)}

${optionList(COMMON_OPTIONS)}

Examples
  forgelet issues convert github-issues.json -o issues.json
  forgelet issues convert gitlab-export -o dump --to gitea-dump --repo acme/rocket
  forgelet issues convert dump -o - | gzip > issues.json.gz

${SOURCES}
OUT appears whole or not at all. A document has issues only; a dump also has labels, milestones and
comments, and OUT must be a new or empty folder.
If the document goes to standard output, messages and --json go to standard error.
Exit codes: 0 done, 1 the source is not valid, 2 wrong usage or a file cannot be read or written,
3 stopped by a signal.`
}

function importHelp(): string {
  return `forgelet issues import - write a source of issues into a repository of "forgelet serve"

Usage
  forgelet issues import SOURCE --repo OWNER/NAME [options]

Options
${optionList(IMPORT_OPTIONS)}

${optionList(COMMON_OPTIONS)}

Examples
  forgelet issues import issues.json --repo acme/rocket --db forge.sqlite --dry-run
  forgelet issues import gitlab-export --repo acme/rocket --attribution accounts --users users.json

${SOURCES}
SOURCE is checked whole before the first issue is written. Numbers are kept. An issue that exists
and is the same is left, so an import that was broken off is finished by running it again.
${ENVIRONMENT}
Exit codes: 0 done, 1 the source is not valid, a conflict, or no such repository, 2 wrong usage or a
file cannot be read, 3 the database cannot be used, or stopped by a signal.`
}

function exportHelp(): string {
  return `forgelet issues export - write the issues of a repository of "forgelet serve"

Usage
  forgelet issues export --repo OWNER/NAME [options]

Options
${optionList(EXPORT_OPTIONS)}

${optionList(COMMON_OPTIONS)}

Examples
  forgelet issues export --repo acme/rocket --db forge.sqlite -o issues.json
  forgelet issues export --repo acme/rocket | gzip > issues.json.gz

The document has the issues in ascending order of their numbers, without comments, and with e-mail
addresses. OUT appears whole or not at all.
${ENVIRONMENT}
Exit codes: 0 done, 1 no such repository, 2 wrong usage or the file cannot be written,
3 the database cannot be used, or stopped by a signal.`
}

function tokenHelp(): string {
  return `forgelet token - the access tokens of a user of "forgelet serve"

Usage
  forgelet token create USER [--name NAME] [options]    create a token, and print it once
  forgelet token list USER [options]                    show ids, times and names, not the tokens
  forgelet token revoke USER ID [options]               make a token invalid

Options
${optionList(TOKEN_CREATE_OPTIONS)}

${optionList(COMMON_OPTIONS)}

Examples
  forgelet token create alice --name ci --db forgelet.sqlite
  forgelet token list alice --db postgres://forge@db.example.com/forge --json
  forgelet token revoke alice 9f86d081884c

The environment variable FORGELET_DB is used if --db is not given. Use it for a URL with a password.
The servers may run meanwhile: they accept a new token at once, and answer a revoked one with 401.
Only the SHA-256 of a token is stored. Exit codes: 0 done, 1 unknown user or token, 2 wrong usage,
3 the database cannot be used.`
}

function doctorHelp(): string {
  return `forgelet doctor - check the database of "forgelet serve", without changing it

Usage
  forgelet doctor [options]

Options
${optionList(DOCTOR_OPTIONS)}

${optionList(COMMON_OPTIONS)}

Examples
  forgelet doctor --db forgelet.sqlite
  forgelet doctor --db postgres://forge@db.example.com/forge --json

It prints a table: the tables of the forge and of the server, the settings that decide whether data
survives a crash, the clock, and the connections; and what to do about each.
The environment variable FORGELET_DB is used if --db is not given. Use it for a URL with a password.
Exit codes: 0 all is well, 1 something should be done, 2 wrong usage,
3 the database cannot be reached or read.`
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

"forgelet serve" serves the same document at /api/v1/openapi.json. No server or database is needed.
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
