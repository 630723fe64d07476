/** The JSON pointer (RFC 6901) of a path; `""` for the root. */
export function pointerTo(path: readonly PropertyKey[]): string {
  return path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** One value of a fixture that may be anything, and where it is: what is not of the kind asked for is as if it were not there. */
export class FixtureNode {
  readonly #path: readonly PropertyKey[]
  readonly #value: unknown

  constructor(value: unknown, path: readonly PropertyKey[] = []) {
    this.#value = value
    this.#path = path
  }

  /** Where the value is. */
  get pointer(): string {
    return pointerTo(this.#path)
  }

  /** The value when it is a text. */
  get text(): string | undefined {
    return typeof this.#value === 'string' ? this.#value : undefined
  }

  /** The value when it is a number. */
  get number(): number | undefined {
    return typeof this.#value === 'number' ? this.#value : undefined
  }

  /** Whether the value is `true`. */
  get isTrue(): boolean {
    return this.#value === true
  }

  /** The field of that name. */
  field(name: string): FixtureNode {
    const value = this.#value
    const known = typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    return nodeAt(known ? Reflect.get(value, name) : undefined, [...this.#path, name])
  }

  /** The items of the list of that name; none when it is no list. */
  items(name: string): readonly FixtureNode[] {
    const field = this.field(name)
    if (!Array.isArray(field.#value)) return []

    return field.#value.map((item: unknown, index) => nodeAt(item, [...field.#path, index]))
  }
}

function nodeAt(value: unknown, path: readonly PropertyKey[]): FixtureNode {
  return new FixtureNode(value, path)
}
