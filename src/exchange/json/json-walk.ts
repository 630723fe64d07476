import type { Path } from '../documents/record-batch.ts'
import {
  BACKSLASH,
  CLOSING_BRACE,
  CLOSING_BRACKET,
  COLON,
  COMMA,
  isBlank,
  LINE_FEED,
  OPENING_BRACE,
  OPENING_BRACKET,
  QUOTE,
} from './ascii.ts'
import { invalidUtf8At } from './utf8.ts'

/** Values whose offsets a walk determines, as a tree of their paths. */
export interface Sought {
  /** The index of the value's first byte, or -1 if the walk did not find it. */
  at: number
  readonly inner: Map<string, Sought>
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true }) // lenient: the names of invalid UTF-8 are never reported
const LITERALS: readonly string[] = ['true', 'false', 'null']
const ESCAPES: readonly number[] = [...'"\\/bfnrtu'].map((letter) => letter.charCodeAt(0))
const LETTER_U = 117
const LETTER_E = 101
const CAPITAL_E = 69
const PLUS = 43
const HYPHEN = 45
const POINT = 46
const ZERO = 48

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
  readonly #duplicates: Path[] | undefined
  readonly #path: PropertyKey[] = []

  /** @param duplicates - receives the path of each property whose name occurs a second time in its object */
  constructor(bytes: Uint8Array, at: number, duplicates?: Path[]) {
    this.#bytes = bytes
    this.at = at
    this.#duplicates = duplicates
  }

  /** Moves over blanks and a comma to the next value of a list. Returns false at the end of the bytes. */
  next(): boolean {
    this.#blanks()
    this.#skip(COMMA)
    this.#blanks()
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
    if (names?.has(name) === true) this.#duplicates?.push([...this.#path])
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
    const bytes = this.#bytes
    let at = this.at + 1
    for (;;) {
      let byte = bytes[at] ?? 0
      while (byte >= 32 && byte !== QUOTE && byte !== BACKSLASH) byte = bytes[++at] ?? 0
      this.at = at
      if (byte === QUOTE) return this.#skip(QUOTE)
      if (byte !== BACKSLASH) return this.#fail('a text without control characters, and its closing quote')
      if (!this.#escape()) return false
      at = this.at
    }
  }

  #escape(): boolean {
    this.at += 1
    const kind = this.#bytes[this.at] ?? 0
    if (!ESCAPES.includes(kind)) return this.#fail('an escape of JSON')

    this.at += 1
    for (let digits = kind === LETTER_U ? 4 : 0; digits > 0; digits -= 1) {
      if (!isHexadecimal(this.#bytes[this.at])) return this.#fail('four hexadecimal digits')
      this.at += 1
    }
    return true
  }

  #word(): boolean {
    const literal = LITERALS.find((word) => word.charCodeAt(0) === this.#bytes[this.at])
    if (literal === undefined) return this.#number()

    for (let index = 0; index < literal.length; index += 1) {
      if (!this.#skip(literal.charCodeAt(index))) return this.#fail(literal)
    }
    return true
  }

  #number(): boolean {
    this.#skip(HYPHEN)
    if (!this.#skip(ZERO) && !this.#digits('a value')) return false
    if (this.#skip(POINT) && !this.#digits('a digit')) return false
    if (!this.#skip(LETTER_E) && !this.#skip(CAPITAL_E)) return true
    if (!this.#skip(PLUS)) this.#skip(HYPHEN)
    return this.#digits('a digit')
  }

  #digits(expected: string): boolean {
    const start = this.at
    while (isDigit(this.#bytes[this.at])) this.at += 1
    return this.at > start || this.#fail(expected)
  }

  #text(start: number): string {
    // Decoding costs more than the walk: most names are ASCII without escapes.
    let name = ''
    for (let at = start + 1; at < this.at - 1; at += 1) {
      const byte = this.#bytes[at] ?? 0
      if (byte === BACKSLASH || byte >= 0x80) return JSON.parse(decoder.decode(this.#bytes.subarray(start, this.at)))
      name += String.fromCharCode(byte)
    }
    return name
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

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= ZERO + 9
}

function isHexadecimal(byte: number | undefined): boolean {
  return isDigit(byte) || (byte !== undefined && (byte | 32) >= 97 && (byte | 32) <= 102)
}

/** The first byte of a value, from the index `start`, that cannot be read. */
export interface Unreadable {
  readonly at: number
  readonly code: 'json' | 'utf8'
  readonly message: string
}

/**
 * Returns the first byte of a value that cannot be read, or undefined. A value that is cut off is read as far as the
 * bytes go.
 */
export function unreadableIn(bytes: Uint8Array, start: number, value: 'whole' | 'cut off'): Unreadable | undefined {
  const walk = new JsonWalk(bytes, start)
  const isRead = walk.value()
  const at = invalidUtf8At(bytes, start, walk.at)
  if (at !== -1) return { at, code: 'utf8', message: 'expected UTF-8' }
  if (value === 'cut off' && (isRead || walk.at >= bytes.length)) return undefined
  if (isRead && endsValue(bytes[walk.at])) return undefined
  return { at: walk.at, code: 'json', message: `expected ${isRead ? 'a comma' : walk.expected}` }
}

/** Returns how many lines end between two indexes. */
export function linesIn(bytes: Uint8Array, from: number, to: number): number {
  let lines = 0
  for (let at = bytes.indexOf(LINE_FEED, from); at !== -1 && at < to; at = bytes.indexOf(LINE_FEED, at + 1)) lines += 1
  return lines
}

function endsValue(byte: number | undefined): boolean {
  return byte === undefined || byte === COMMA || isBlank(byte)
}
