import type { Path } from '../documents/record-batch.ts'
import {
  BACKSLASH,
  CLOSING_BRACE,
  CLOSING_BRACKET,
  COLON,
  COMMA,
  isBlank,
  OPENING_BRACE,
  OPENING_BRACKET,
  QUOTE,
} from './ascii.ts'

/** Values whose offsets a walk determines, as a tree of their paths. */
export interface Sought {
  /** The index of the value's first byte, or -1 if the walk did not find it. */
  at: number
  readonly inner: Map<string, Sought>
}

/** A property whose name occurs twice in its object. `at` is the index of the later value. */
export interface Duplicate {
  readonly path: Path
  readonly at: number
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true }) // lenient: the names of invalid UTF-8 are never reported
const LITERALS: readonly string[] = ['true', 'false', 'null']

/**
 * Walks through bytes of JSON value by value, and checks every byte. It is slower than JSON.parse and knows where it is:
 * it runs only where something is wrong.
 */
export class JsonWalk {
  /** The index of the next byte. After a method returned false: of the first byte that cannot be read. */
  at: number
  /** What was expected there. */
  expected = ''
  readonly #bytes: Uint8Array
  readonly #duplicates: Duplicate[] | undefined
  readonly #path: PropertyKey[] = []

  constructor(bytes: Uint8Array, at: number, duplicates?: Duplicate[]) {
    this.#bytes = bytes
    this.at = at
    this.#duplicates = duplicates
  }

  /** Moves to the next value of a list: over blanks and commas. Returns false at the end of the bytes. */
  next(): boolean {
    while (isBlank(this.#bytes[this.at]) || this.#bytes[this.at] === COMMA) this.at += 1
    return this.at < this.#bytes.length
  }

  /** Walks over one value. Returns false if it is not JSON. */
  value(sought?: Sought): boolean {
    if (sought !== undefined) sought.at = this.at
    switch (this.#bytes[this.at]) {
      case OPENING_BRACE:
        return this.#object(sought)
      case OPENING_BRACKET:
        return this.#array(sought)
      case QUOTE:
        return this.#string()
      default:
        return this.#word()
    }
  }

  #object(sought: Sought | undefined): boolean {
    const names = this.#duplicates === undefined ? undefined : new Set<string>()
    this.at += 1
    this.#blanks()
    if (this.#skip(CLOSING_BRACE)) return true

    for (;;) {
      const start = this.at
      if (this.#bytes[start] !== QUOTE) return this.#fail('a property name')
      if (!this.#string()) return false
      const name = sought === undefined && names === undefined ? undefined : this.#text(start)
      this.#blanks()
      if (!this.#skip(COLON)) return this.#fail('a colon')
      this.#blanks()
      if (!this.#property(name, names, sought)) return false
      this.#blanks()
      if (this.#skip(CLOSING_BRACE)) return true
      if (!this.#skip(COMMA)) return this.#fail('a comma or }')
      this.#blanks()
    }
  }

  #property(name: string | undefined, names: Set<string> | undefined, sought: Sought | undefined): boolean {
    if (name === undefined) return this.value()

    this.#path.push(name)
    if (names?.has(name) === true) this.#duplicates?.push({ path: [...this.#path], at: this.at })
    names?.add(name)
    const isRead = this.value(sought?.inner.get(name))
    this.#path.pop()
    return isRead
  }

  #array(sought: Sought | undefined): boolean {
    this.at += 1
    this.#blanks()
    if (this.#skip(CLOSING_BRACKET)) return true

    for (let index = 0; ; index += 1) {
      this.#path.push(index)
      if (!this.value(sought?.inner.get(String(index)))) return false
      this.#path.pop()
      this.#blanks()
      if (this.#skip(CLOSING_BRACKET)) return true
      if (!this.#skip(COMMA)) return this.#fail('a comma or ]')
      this.#blanks()
    }
  }

  #string(): boolean {
    for (this.at += 1; this.at < this.#bytes.length; this.at += 1) {
      const byte = this.#bytes[this.at] ?? 0
      if (byte === QUOTE) return this.#skip(QUOTE)
      if (byte < 32) return this.#fail('no control character in a text')
      if (byte === BACKSLASH && !this.#escape()) return false
    }
    return this.#fail('a closing quote')
  }

  /** Walks over an escape, up to its last byte. */
  #escape(): boolean {
    this.at += 1
    const kind = this.#byteText()
    if (kind === '' || !'"\\/bfnrtu'.includes(kind)) return this.#fail('an escape of JSON')

    for (let digits = kind === 'u' ? 4 : 0; digits > 0; digits -= 1) {
      this.at += 1
      if (!/[0-9a-fA-F]/.test(this.#byteText())) return this.#fail('four hexadecimal digits')
    }
    return true
  }

  #word(): boolean {
    const first = this.#byteText()
    const literal = LITERALS.find((word) => first !== '' && word.startsWith(first))
    if (literal === undefined) return this.#number()

    for (const letter of literal) {
      if (this.#byteText() !== letter) return this.#fail(literal)
      this.at += 1
    }
    return true
  }

  #number(): boolean {
    if (this.#byteText() === '-') this.at += 1
    if (this.#byteText() === '0') this.at += 1
    else if (!this.#digits('a value')) return false
    if (this.#byteText() === '.') {
      this.at += 1
      if (!this.#digits('a digit')) return false
    }
    if (this.#byteText().toLowerCase() !== 'e') return true
    this.at += 1
    if (this.#byteText() === '+' || this.#byteText() === '-') this.at += 1
    return this.#digits('a digit')
  }

  #digits(expected: string): boolean {
    const start = this.at
    while (/\d/.test(this.#byteText())) this.at += 1
    return this.at > start || this.#fail(expected)
  }

  #byteText(): string {
    const byte = this.#bytes[this.at]
    return byte === undefined ? '' : String.fromCharCode(byte)
  }

  #text(start: number): string {
    return JSON.parse(decoder.decode(this.#bytes.subarray(start, this.at)))
  }

  #blanks(): void {
    while (isBlank(this.#bytes[this.at])) this.at += 1
  }

  #skip(byte: number): boolean {
    if (this.#bytes[this.at] !== byte) return false
    this.at += 1
    return true
  }

  #fail(expected: string): boolean {
    this.expected = expected
    return false
  }
}
