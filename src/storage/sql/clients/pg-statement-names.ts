/**
 * Names under which a connection keeps prepared statements. The same text has the same name in every process: if
 * processes share connections without knowing it, as behind PgBouncer, a name must never denote another text.
 */
export class StatementNames {
  readonly #names = new Map<string, string>()
  #usable = true

  /** Returns the name of a statement; undefined if names cannot be used. */
  of(text: string): string | undefined {
    if (!this.#usable) return undefined

    const known = this.#names.get(text)
    if (known !== undefined) return known
    const name = `forgelet_${fingerprint(text)}`
    this.#names.set(text, name)
    return name
  }

  /** Uses no names from now on, because a proxy between the library and the server does not keep them. */
  giveUp(): void {
    this.#usable = false
  }
}

const OFFSET = 0xcbf29ce484222325n
const PRIME = 0x100000001b3n

/** FNV-1a of 64 bits, over UTF-16 units. Source: http://www.isthe.com/chongo/tech/comp/fnv/ */
function fingerprint(text: string): string {
  let hash = OFFSET
  for (let index = 0; index < text.length; index += 1) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(text.charCodeAt(index))) * PRIME)
  }
  return hash.toString(16).padStart(16, '0')
}
