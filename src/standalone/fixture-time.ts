/** A time of a fixture, or another one where it names none. */
export function timeOf(text: string | undefined, otherwise: Date): Date {
  return text === undefined ? otherwise : new Date(text)
}
