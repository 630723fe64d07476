import { createHash } from 'node:crypto'
import { propertyOf } from '../../../schema/arguments.ts'

/** The names of prepared statements. They follow from the text, so that all processes agree behind a proxy. */
export class StatementNames {
  readonly #names = new Map<string, string>()
  /** Undefined until the server was checked. */
  #areUsable: boolean | undefined

  /**
   * Decides whether names can be used, by the answer to the check of the server. A proxy that lends its connections to the server
   * in turns does not keep them, and calls itself another process than that of the server.
   */
  decide(client: object, rows: unknown): void {
    if (this.#areUsable !== undefined) return
    const process = propertyOf(Array.isArray(rows) ? rows[0] : undefined, 'process')
    const named = propertyOf(client, 'processID') ?? process // unknown to other clients than those of pg
    if (process !== undefined) this.#areUsable = String(process) === String(named)
  }

  /** Returns the name of a statement; undefined if names cannot be used. */
  of(text: string): string | undefined {
    if (this.#areUsable !== true) return undefined
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
