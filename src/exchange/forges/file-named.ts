/** Returns the only file with this name, in the folder itself or deeper in it. Undefined: it is missing, or there are several. */
export function fileNamed(names: readonly string[], file: string): string | undefined {
  const found = names.filter((name) => name === file || name.endsWith(`/${file}`))
  return found.length === 1 ? found[0] : undefined
}
