/** A longer item may have too many tokens. */
const MAX_CHARACTERS = 100_000
const PROPERTY = /([a-z][a-z0-9_]{0,99}):(?: |(?=\n))/y
const INTEGER = /^(?:0|-?[1-9][0-9]{0,14})$/
const TIME = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:Z|[+-][0-9]{2}:[0-9]{2})$/
/** Control characters, but for the ends of lines and tabs. */
const CONTROL = /[^\P{Cc}\n\t]/u
/** A text that is not quoted begins with a letter: it is not a number. */
const PLAIN = /^[A-Za-z\u00a1-\ufefe\uff00-\uffff]/
const NOT_PLAIN = /: | #|\t|[ :]$|^(?:null|true|false)$/i
const LITERAL = /^\|[-+]?$/
const SINGLE_QUOTED = /^'(?:[^']|'')*'$/
const DOUBLE_QUOTED = /^"(?:[^"\\]|\\.)*"$/
const ESCAPE = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))/g
/** Escapes that are not the character itself. */
const ESCAPED: ReadonlyMap<string, string> = new Map([
  ...['"', '/', '\\'].map((character): [string, string] => [character, character]),
  ['0', '\0'],
  ['a', '\u0007'],
  ['b', '\b'],
  ['e', '\u001b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
  ['L', '\u2028'],
  ['N', '\u0085'],
  ['P', '\u2029'],
  ['_', '\u00a0'],
])
const SPACE = 32
const MAX_CODE_POINT = 0x10ffff

/**
 * Reads an item that has the form in which forges write dumps: properties and lists on lines of their own, texts on one
 * line or as a literal. It is many times as fast as the package, whose tokens cost most. Returns undefined if anything in
 * the item has another form, or is wrong.
 */
export function plainItem(text: string, maxDepth: number): object | undefined {
  const mayBePlain = text.length <= MAX_CHARACTERS && text.startsWith('- ') && text.endsWith('\n')
  return mayBePlain && !CONTROL.test(text) ? new PlainItem(text, maxDepth).read() : undefined
}

class PlainItem {
  readonly #text: string
  readonly #maxDepth: number
  #at = 0
  #isPlain = true

  constructor(text: string, maxDepth: number) {
    this.#text = text
    this.#maxDepth = maxDepth
  }

  read(): object | undefined {
    this.#at = 2
    const record = this.#object(2, 1)
    while (this.#text[this.#at] === '\n') this.#at += 1
    return this.#isPlain && this.#at === this.#text.length ? record : undefined
  }

  /** Reads properties in this column. The first one is next. */
  #object(column: number, depth: number): object {
    const properties: Record<string, unknown> = {}
    this.#enter(depth)
    for (;;) {
      const name = this.#name()
      if (name === undefined || Object.hasOwn(properties, name)) return this.#refuse(properties)
      properties[name] = this.#value(column, depth)
      if (!this.#isPlain || this.#indentation() !== column || this.#isListItem(column)) return properties
      this.#at += column
    }
  }

  /** Reads items whose hyphens are in this column. The next line has the first one. */
  #list(column: number, depth: number): readonly unknown[] {
    const items: unknown[] = []
    this.#enter(depth)
    do {
      this.#at += column + 2
      PROPERTY.lastIndex = this.#at
      items.push(PROPERTY.test(this.#text) ? this.#object(column + 2, depth + 1) : this.#scalar(column, depth))
    } while (this.#isPlain && this.#indentation() === column && this.#isListItem(column))
    return items
  }

  #name(): string | undefined {
    PROPERTY.lastIndex = this.#at
    const name = PROPERTY.exec(this.#text)?.[1]
    if (name !== undefined) this.#at = PROPERTY.lastIndex
    return name
  }

  /** Reads what is behind the colon of a property in this column. */
  #value(column: number, depth: number): unknown {
    if (this.#text[this.#at] !== '\n') return this.#scalar(column, depth)

    this.#at += 1
    const indentation = this.#indentation()
    if (indentation >= column && this.#isListItem(indentation)) return this.#list(indentation, depth + 1)
    if (indentation <= column) return null
    this.#at += indentation
    return this.#object(indentation, depth + 1)
  }

  #scalar(column: number, depth: number): unknown {
    const end = this.#text.indexOf('\n', this.#at)
    const source = this.#text.slice(this.#at, end)
    this.#at = end + 1
    switch (source[0]) {
      case '"':
        return DOUBLE_QUOTED.test(source) ? this.#unescaped(source.slice(1, -1)) : this.#refuse('')
      case "'":
        return SINGLE_QUOTED.test(source) ? source.slice(1, -1).replaceAll("''", "'") : this.#refuse('')
      case '|':
        return LITERAL.test(source) ? this.#literal(column, source) : this.#refuse('')
      case '[':
        this.#enter(depth + 1)
        return source === '[]' ? [] : this.#refuse([])
      case '{':
        this.#enter(depth + 1)
        return source === '{}' ? {} : this.#refuse({})
      default:
        return this.#plain(source)
    }
  }

  #plain(source: string): unknown {
    if (INTEGER.test(source)) return Number(source)
    if (TIME.test(source)) return source
    if (PLAIN.test(source) && !NOT_PLAIN.test(source)) return source
    if (source === 'true' || source === 'false') return source === 'true'
    return source === 'null' ? null : this.#refuse(null)
  }

  #unescaped(source: string): string {
    if (!source.includes('\\')) return source

    const text = source.replace(ESCAPE, (_, x, u, U, character) => {
      if (character !== undefined) return ESCAPED.get(character) ?? this.#refuse('')
      const code = Number.parseInt(x ?? u ?? U, 16)
      return code <= MAX_CODE_POINT ? String.fromCodePoint(code) : this.#refuse('')
    })
    return text.isWellFormed() ? text : this.#refuse('')
  }

  /** Reads the lines of a literal that a property or a hyphen in this column has. */
  #literal(column: number, header: string): string {
    const lines: string[] = []
    let indent = 0
    for (;;) {
      const spaces = this.#spaces()
      const next = this.#text[this.#at + spaces]
      const isEmpty = spaces === 0 && next === '\n'
      if (indent === 0) indent = spaces
      if (!isEmpty && (spaces < indent || spaces <= column)) break
      // The package has rules of its own for lines of spaces, and for a tab that may be indentation.
      if (!isEmpty && (next === '\n' || (next === '\t' && lines.length === 0))) return this.#refuse('')
      const end = this.#text.indexOf('\n', this.#at)
      if (end === -1) break
      lines.push(isEmpty ? '' : this.#text.slice(this.#at + indent, end))
      this.#at = end + 1
    }
    const count = lines.length
    while (lines.at(-1) === '') lines.pop()
    if (lines.length === 0) return this.#refuse('')
    const text = lines.join('\n')
    if (header === '|-') return text
    return header === '|' ? `${text}\n` : `${text}${'\n'.repeat(1 + count - lines.length)}`
  }

  #spaces(): number {
    let at = this.#at
    while (this.#text.charCodeAt(at) === SPACE) at += 1
    return at - this.#at
  }

  /** Returns how many spaces begin the next line. A line that has nothing else, or a tab behind them, is refused. */
  #indentation(): number {
    const spaces = this.#spaces()
    const next = this.#text[this.#at + spaces]
    if (next === '\t' || (spaces > 0 && (next === '\n' || next === undefined))) this.#isPlain = false
    return spaces
  }

  #isListItem(column: number): boolean {
    return this.#text.startsWith('- ', this.#at + column)
  }

  #enter(depth: number): void {
    if (depth > this.#maxDepth) this.#isPlain = false
  }

  #refuse<T>(value: T): T {
    this.#isPlain = false
    return value
  }
}
