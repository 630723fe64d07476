import { isObject, need } from './arguments.ts'

/** What an option must be: a test of the value, which may be undefined, and a description of what passes it. */
export type OptionRule = readonly [isValid: (value: unknown) => boolean, expected: string]

/** The rule of each option of a type. An option that is new there does not compile until it is here. */
export type OptionRules<T> = { readonly [Name in keyof T]-?: OptionRule }

/** The rule of an option that is checked elsewhere. */
export const ANY: OptionRule = [() => true, '']

/** The rule of a function that may be left out. */
export const FUNCTION: OptionRule = optional((value) => typeof value === 'function', 'a function')

/** Creates the rule of an option that may be left out. */
export function optional(isValid: (value: unknown) => boolean, expected: string): OptionRule {
  return [(value) => value === undefined || isValid(value), `${expected}, or undefined`]
}

/** Creates the rule of an option that is one of some texts, or left out. */
export function oneOf(...choices: readonly string[]): OptionRule {
  return optional((value) => choices.some((choice) => choice === value), `one of ${choices.join(', ')}`)
}

/**
 * Checks the options of a public function.
 *
 * @param within - the name of the option that has these options, with a dot, such as `limits.`
 * @throws TypeError with the name of an option that does not exist, or whose value is not valid
 */
export function checkOptions<T>(caller: string, options: unknown, rules: OptionRules<T>, within = ''): void {
  need(isObject(options), caller, within.slice(0, -1) || 'options', `an object with ${Object.keys(rules).join(', ')}`)
  refuseUnknown(caller, options, rules, within)
  for (const [name, [isValid, expected]] of Object.entries<OptionRule>(rules)) {
    need(isValid(Reflect.get(Object(options), name)), caller, within + name, expected)
  }
}

/** The names of all options of a type. An option that is new there does not compile until it is here. */
export type OptionNames<T> = { readonly [Name in keyof T]-?: true }

/**
 * Throws for an option that does not exist, because a misspelt option would silently have its default. Options whose
 * value is undefined are accepted.
 *
 * @param caller - the name of the public function
 * @param options - an object; other values have no options
 * @param known - an object with the name of every option, such as `OptionNames` or the defaults
 * @param within - the name of the option that has these options, with a dot, such as `limits.`
 * @throws TypeError with the name of the option, and of the one that is most like it
 */
export function refuseUnknown<T>(
  caller: string,
  options: unknown,
  known: { readonly [Name in keyof T]-?: unknown },
  within = '',
): void {
  const given = Object(options)
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(known, name) || Reflect.get(given, name) === undefined) continue

    const [nearest] = Object.keys(known).sort((one, other) => distance(name, one) - distance(name, other))
    if (nearest === undefined) throw new TypeError(`${caller} has no options: it was given ${within}${name}`)
    throw new TypeError(`${caller} has no option ${within}${name}: did you mean ${within}${nearest}?`)
  }
}

/** Returns how many characters must be added, removed or replaced to make one word of the other, whatever their case. */
function distance(one: string, other: string): number {
  const [from, to] = [one.toLowerCase(), other.toLowerCase()]
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (const [line, character] of [...from].entries()) {
    const next = [line + 1]
    for (const [column, above] of row.slice(1).entries()) {
      const replaced = (row[column] ?? 0) + (character === to[column] ? 0 : 1)
      next.push(Math.min(replaced, above + 1, (next[column] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}

/**
 * Checks the `services` option of a public function.
 *
 * @param offered - the names that can be chosen
 * @returns the chosen names without duplicates, in the order of `offered`
 * @throws TypeError when the option is not an array of offered names
 */
export function toServiceNames<S extends string>(names: readonly S[] | undefined, offered: readonly S[]): readonly S[] {
  if (names === undefined) return [...offered]
  if (!Array.isArray(names)) throw new TypeError(`services must be an array of these names: ${offered.join(', ')}`)

  const unknown: unknown = names.find((name) => !offered.includes(name))
  if (unknown === undefined) return offered.filter((name) => names.includes(name))
  throw new TypeError(`services must be some of ${offered.join(', ')}; ${JSON.stringify(unknown)} is not one of them`)
}
