import { canonicalDateTime } from '../../schema/date-time.ts'
import type { ExchangeRecord, IssueRecord } from '../../schema/issue-record.ts'
import { NumberMap } from '../../schema/number-map.ts'
import { NumberSet } from '../../schema/number-set.ts'
import type { Finding } from './source-record.ts'

/**
 * Which of several issues of one number counts, in a list that was fetched page by page: pages shift when an issue is
 * created or updated meanwhile. It is the first one with the latest `updated`. If the list can be read only once, the
 * first one must be it.
 */
export class Repetitions {
  /** Of each number, the latest `updated` that was seen, in milliseconds. */
  readonly #latest = new NumberMap()
  readonly #taken = new NumberSet()

  /** Notes records of a list that will be read again. */
  note(records: readonly ExchangeRecord[]): void {
    for (const { number, updated } of issuesOf(records)) {
      this.#latest.set(number, Math.max(timeOf(updated), this.#latest.get(number) ?? Number.NEGATIVE_INFINITY))
    }
  }

  /** Takes the records that a record of the list became. Returns 'repeated' if another issue of the number counts. */
  take(records: readonly ExchangeRecord[]): 'repeated' | Finding | undefined {
    for (const { number, updated } of issuesOf(records)) {
      const [time, latest = time] = [timeOf(updated), this.#latest.get(number)]
      if (this.#taken.has(number)) return time > latest ? readTooEarly(number) : 'repeated'
      if (time < latest) return 'repeated'
      this.#taken.add(number)
      this.#latest.set(number, time)
    }
    return undefined
  }
}

function timeOf(dateTime: string): number {
  return Date.parse(canonicalDateTime(dateTime))
}

/**
 * Returns whether a number may occur twice in a list of JSON: false only if no property of this name has a value that an earlier
 * one has. Within a milestone or an epic, a value counts only behind its first object. The records are not parsed.
 *
 * @param maxBytes - the largest record: where no object ends for longer, the answer is true, and reading it will say what is wrong
 */
export async function mayRepeat(
  bytes: AsyncIterable<Uint8Array>,
  property: string,
  maxBytes: number,
): Promise<boolean> {
  const value = new RegExp(`"${property}"\\s*:\\s*(\\d+)|"(?:milestone|epic)"\\s*:\\s*\\{[^{}]*`, 'g')
  const decoder = new TextDecoder()
  const numbers = new NumberSet()
  let begun = ''
  for await (const piece of bytes) {
    const text = decoder.decode(piece, { stream: true })
    const end = text.lastIndexOf('}') + 1
    for (const [, digits] of end === 0 ? [] : (begun + text.slice(0, end)).matchAll(value)) {
      if (digits === undefined) continue
      const number = Number(digits)
      if (!Number.isSafeInteger(number) || numbers.has(number)) return true
      numbers.add(number)
    }
    begun = end === 0 ? begun + text : text.slice(end)
    if (begun.length > maxBytes) return true
  }
  return false // what is behind the last object has no number
}

function issuesOf(records: readonly ExchangeRecord[]): readonly IssueRecord[] {
  return records.flatMap((record) => (record.kind === 'issue' ? [record.issue] : []))
}

function readTooEarly(number: number): Finding {
  const message = `expected no earlier issue ${number} that was updated before, because this source can be read only once`
  return { path: ['number'], code: 'duplicate_number', message }
}
