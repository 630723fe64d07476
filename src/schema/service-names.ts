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
