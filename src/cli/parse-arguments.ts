import { parseArgs } from 'node:util'
import { CommandError } from './command-error.ts'
import type { OptionSpec, OptionValues } from './options.ts'
import { COMMON_OPTIONS, SERVE_OPTIONS } from './options.ts'

/** A command line, read. */
export interface Arguments {
  readonly command: 'serve' | undefined
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
  const words: string[] = []
  const values: Record<string, string | true> = {}
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value)
    if (token.kind === 'option') values[nameOf(token)] = textOrTrue(token)
  }
  return { command: commandOf(words), values }
}

interface OptionToken {
  readonly name: string
  readonly rawName: string
  readonly value: string | undefined
}

function specs(): ReadonlyMap<string, OptionSpec> {
  return new Map<string, OptionSpec>(Object.entries({ ...SERVE_OPTIONS, ...COMMON_OPTIONS }))
}

function parserOptions(): { [name: string]: { type: 'string' | 'boolean'; short?: string } } {
  const entries = [...specs()].map(([name, { type, short }]) => [
    name,
    short === undefined ? { type } : { type, short },
  ])
  return Object.fromEntries(entries)
}

function nameOf({ name, rawName }: OptionToken): string {
  if (specs().has(name)) return name
  throw new CommandError(2, `unknown option ${rawName}: "forgelet serve --help" lists the options`)
}

function textOrTrue({ name, rawName, value }: OptionToken): string | true {
  if (specs().get(name)?.type === 'boolean') {
    if (value === undefined) return true
    throw new CommandError(2, `${rawName} takes no value: write ${rawName} alone`)
  }
  // A negative number is a value, to be refused by whoever knows what it is for.
  if (value !== undefined && value !== '' && !/^-(?!\d)/.test(value)) return value
  throw new CommandError(2, `${rawName} needs a value: "forgelet serve --help" tells which`)
}

function commandOf([command, ...rest]: readonly string[]): 'serve' | undefined {
  if (command !== undefined && command !== 'serve') {
    throw new CommandError(2, `unknown command "${command}": there is "serve"; see "forgelet --help"`)
  }
  if (rest.length > 0) throw new CommandError(2, `unexpected argument "${rest[0]}": options start with "--"`)
  return command
}
