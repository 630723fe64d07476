import { createHash } from 'node:crypto'

/** The names of prepared statements. They follow from the text, so that all processes agree behind a proxy. */
export class StatementNames {
  readonly #names = new Map<string, string>()
  #areUsable = true

  /** Returns the name of a statement; undefined if names cannot be used. */
  of(text: string): string | undefined {
    if (!this.#areUsable) return undefined
    const known = this.#names.get(text)
    if (known !== undefined) return known
    const name = `forgelet_${createHash('sha256').update(text).digest('hex').slice(0, 16)}`
    this.#names.set(text, name)
    return name
  }

  /** Uses no names from now on. */
  giveUp(): void {
    this.#areUsable = false
  }
}
