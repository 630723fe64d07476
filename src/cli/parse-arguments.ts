import { parseArgs } from 'node:util'
import { CommandError } from './command-error.ts'
import type { Command, OptionSpec, OptionValues } from './options.ts'
import { COMMANDS, COMMON_OPTIONS } from './options.ts'
import { mayHoldPassword } from './password-guard.ts'

/** A command line, read: the command, the words after it, and what the options of that command say. */
export interface Arguments {
  readonly command: Command | undefined
  readonly words: readonly string[]
  readonly values: OptionValues
}

/**
 * Reads a command line.
 * @throws CommandError (wrong usage) for an unknown command or option, and for an option without the value it needs
 */
export function parseArguments(args: readonly string[]): Arguments {
  const { tokens } = parseArgs({
    args: [...args],
    options: parserOptions(),
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const [name, ...words] = tokens.flatMap((token) => (token.kind === 'positional' ? safeWord(token.value) : []))
  const command = commandNamed(name)
  const values: Record<string, string | true> = {}
  for (const token of tokens) {
    if (token.kind === 'option') values[nameOf(token, command)] = textOrTrue(token, command)
  }
  return { command, words, values }
}

interface OptionToken {
  readonly name: string
  readonly rawName: string
  readonly value: string | undefined
}

function parserOptions(): { [name: string]: { type: 'string' | 'boolean'; short?: string } } {
  const specs: readonly (readonly [string, OptionSpec])[] = [...Object.values(COMMANDS), COMMON_OPTIONS].flatMap(
    (options) => Object.entries<OptionSpec>(options),
  )
  return Object.fromEntries(
    specs.map(([name, { type, short }]) => [name, short === undefined ? { type } : { type, short }]),
  )
}

/** Before a command is named, every option is of `serve`: it is what most command lines lack. */
function specsOf(command: Command | undefined): ReadonlyMap<string, OptionSpec> {
  return new Map<string, OptionSpec>(Object.entries({ ...COMMANDS[command ?? 'serve'], ...COMMON_OPTIONS }))
}

function helpOf(command: Command | undefined): string {
  return `"forgelet ${command ?? 'serve'} --help"`
}

function nameOf({ name, rawName }: OptionToken, command: Command | undefined): string {
  if (specsOf(command).has(name)) return name
  const shown = mayHoldPassword(rawName) ? '' : ` ${rawName}`
  throw new CommandError(2, `unknown option${shown}: ${helpOf(command)} lists the options`)
}

function textOrTrue({ name, rawName, value }: OptionToken, command: Command | undefined): string | true {
  if (specsOf(command).get(name)?.type === 'boolean') {
    if (value === undefined) return true
    throw new CommandError(2, `${rawName} takes no value: write ${rawName} alone`)
  }
  // A negative number is a value, to be refused by whoever knows what it is for.
  if (value !== undefined && value !== '' && !/^-(?!\d)/.test(value)) return safeValue(rawName, value)
  throw new CommandError(2, `${rawName} needs a value: ${helpOf(command)} tells which`)
}

/** The options whose values are URLs; their checks show nothing of a URL but its scheme. */
const URL_OPTIONS: ReadonlySet<string> = new Set(['--db', '--public-url'])

/** Messages show the values of the other options, and words. A password that was put there by mistake must not be in them. */
function safeValue(rawName: string, value: string): string {
  if (URL_OPTIONS.has(rawName) || !mayHoldPassword(value)) return value
  throw new CommandError(2, `${rawName}: the value looks like the address of a database, which is given with --db`)
}

function safeWord(word: string): string {
  if (!mayHoldPassword(word)) return word
  throw new CommandError(2, 'an argument looks like the address of a database, which is given with --db')
}

function commandNamed(name: string | undefined): Command | undefined {
  if (name === undefined || name === 'serve' || name === 'schema' || name === 'openapi') return name
  throw new CommandError(
    2,
    `unknown command "${name}": the commands are "serve", "schema" and "openapi"; see "forgelet --help"`,
  )
}
