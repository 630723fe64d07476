import type { OptionSpec } from './options.ts'
import { COMMON_OPTIONS, SERVE_OPTIONS } from './options.ts'

/** What `forgelet --help` shows. */
export function mainHelp(): string {
  return `forgelet - issue pins, organization blocks, badges and signing keys of a code forge

Usage
  forgelet serve [options]     serve them over the Gitea API, from one SQLite file
  forgelet serve --help        the options

${optionList(COMMON_OPTIONS)}`
}

/** What `forgelet serve --help` shows. */
export function serveHelp(): string {
  return `forgelet serve - a small code forge over the Gitea API, from one SQLite file

Usage
  forgelet serve [options]

Options
${optionList(SERVE_OPTIONS)}

${optionList(COMMON_OPTIONS)}

Examples
  forgelet serve --fixture world.json
  forgelet serve --db :memory: --port 8080 --fixture world.yaml --signing-key key.asc

The API is at http://HOST:PORT/api/v1. The fixture format is in docs/fixture.md.
Exit codes: 0 stopped as asked, 1 invalid fixture or key, 2 wrong usage or port in use,
3 the database cannot be used.`
}

function optionList(options: { readonly [name: string]: OptionSpec }): string {
  return Object.entries(options).map(optionLine).join('\n')
}

function optionLine([name, { short, value, help, standard }]: readonly [string, OptionSpec]): string {
  const left = `--${name}${short === undefined ? '' : `, -${short}`}${value === undefined ? '' : ` ${value}`}`
  const right = standard === undefined ? help : `${help} (default ${standard})`
  return `  ${left.padEnd(20)} ${right}`
}
