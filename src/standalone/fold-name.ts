/** The form in which names are compared: names that differ only in case are one name. */
export function foldName(name: string): string {
  return name.toLowerCase()
}
