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
  #isKnown = false

  /** Notes records of a list that will be read again. */
  note(records: readonly ExchangeRecord[]): void {
    this.#isKnown = true
    for (const { number, updated } of issuesOf(records)) {
      const time = Date.parse(canonicalDateTime(updated))
      if (time > (this.#latest.get(number) ?? Number.NEGATIVE_INFINITY)) this.#latest.set(number, time)
    }
  }

  /** Takes the records that a record of the list became. Returns 'repeated' if another issue of the number counts. */
  take(records: readonly ExchangeRecord[]): 'repeated' | Finding | undefined {
    for (const { number, updated } of issuesOf(records)) {
      const time = Date.parse(canonicalDateTime(updated))
      const latest = this.#latest.get(number) ?? Number.NEGATIVE_INFINITY
      if (this.#isKnown ? time < latest : time <= latest) return 'repeated'
      if (!this.#isKnown && latest !== Number.NEGATIVE_INFINITY) return readTooEarly(number)
      // The first one counts of several that are equally late.
      this.#latest.set(number, this.#isKnown ? Number.POSITIVE_INFINITY : time)
    }
    return undefined
  }
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
