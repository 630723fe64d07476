import { parseArgs } from 'node:util'
import { CommandError } from './command.ts'
import { mayHoldPassword } from './database.ts'
import type { Command, OptionSpec, OptionValues } from './options.ts'
import { COMMANDS, COMMON_OPTIONS } from './options.ts'

/** A parsed command line: the command, the words after it, and the options of the command. */
export interface Arguments {
  readonly command: Command | undefined
  readonly words: readonly string[]
  readonly values: OptionValues
}

/**
 * Parses a command line.
 * @throws CommandError (wrong usage) for an unknown command or option, and for an option without its required value
 */
export function parseArguments(args: readonly string[]): Arguments {
  const { tokens } = parseArgs({
    args: [...args],
    options: parserOptions(),
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const { command, words } = commandOf(
    tokens.flatMap((token) => (token.kind === 'positional' ? safeWord(token.value) : [])),
  )
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

/**
 * Returns the options of a command. Without a command, the options of `serve` apply, because it is the command that
 * users most often omit.
 */
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
  const spec = specsOf(command).get(name)
  if (spec?.type === 'boolean') {
    if (value === undefined) return true
    throw new CommandError(2, `${rawName} takes no value: write ${rawName} alone`)
  }
  if (value !== undefined && isValue(value, spec)) return safeValue(rawName, value)
  throw new CommandError(2, `${rawName} needs a value: see ${helpOf(command)}`)
}

function isValue(value: string, spec: OptionSpec | undefined): boolean {
  if (value === '-') return spec?.takesStream === true
  // A negative number counts as a value. The check of the option reports whether it is in range.
  return value !== '' && !/^-(?!\d)/.test(value)
}

/** The options whose values are URLs. The checks of these options report at most the scheme of a URL. */
const URL_OPTIONS: ReadonlySet<string> = new Set(['--db', '--public-url'])

/**
 * Refuses a value that may hold a password. Error messages show words and the values of most options, and a misplaced
 * password must not appear in them.
 */
function safeValue(rawName: string, value: string): string {
  if (URL_OPTIONS.has(rawName) || !mayHoldPassword(value)) return value
  throw new CommandError(2, `${rawName}: the value looks like the address of a database, which is given with --db`)
}

function safeWord(word: string): string {
  if (!mayHoldPassword(word)) return word
  throw new CommandError(2, 'an argument looks like the address of a database, which is given with --db')
}

/** Finds the command, which has one word or two, and the words after it. */
function commandOf(words: readonly string[]): Pick<Arguments, 'command' | 'words'> {
  const [first, second] = words
  if (first === undefined) return { command: undefined, words }
  const both = `${first} ${second}`
  if (isCommand(both)) return { command: both, words: words.slice(2) }
  if (isCommand(first)) return { command: first, words: words.slice(1) }

  const names = [...new Set(Object.keys(COMMANDS).map((name) => `"${name.split(' ')[0]}"`))]
  const list = `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
  throw new CommandError(2, `unknown command "${first}": the commands are ${list}; see "forgelet --help"`)
}

function isCommand(name: string): name is Command {
  return Object.hasOwn(COMMANDS, name)
}
