import type { Path } from '../documents/record-batch.ts'
import type { Findings } from './forge-format.ts'

/**
 * Remembers the first record of each name. Where a source has another one of that name, such as a label with two colors,
 * the first one is used, and the other is reported.
 */
export class FirstOfName<T> {
  readonly #what: string
  readonly #known = new Map<string, { readonly record: T; readonly text: string }>()

  /** @param what - the word for a record that differs from the first one */
  constructor(what: string) {
    this.#what = what
  }

  /** Returns the first record of the name. */
  of(name: string, record: T, path: Path, findings: Findings): T {
    const text = JSON.stringify(record)
    const known = this.#known.get(name)
    if (known === undefined) this.#known.set(name, { record, text })
    else if (known.text !== text) findings.notCarried(this.#what, path)
    return known?.record ?? record
  }
}
