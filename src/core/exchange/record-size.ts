/** What an object or a text takes beside its characters: in a list, each is a row of the host. */
const SIZE_OF_A_ROW = 50
const SIZE_OF_A_NUMBER = 8

/** Returns about how many characters a record has, with its lists: enough to limit what is in memory, or in a transaction, at once. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string') return SIZE_OF_A_ROW + value.length
  if (typeof value !== 'object' || value === null) return SIZE_OF_A_NUMBER

  let size = SIZE_OF_A_ROW
  for (const part of Array.isArray(value) ? value : Object.values(value)) size += sizeOf(part)
  return size
}
