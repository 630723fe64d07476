/** The path of a value: property names and array indexes. */
export type Path = readonly PropertyKey[]

/** Where a value begins in a source: the number of bytes before it, and its line from 1 on. */
export interface Place {
  readonly offset: number
  readonly line: number
}

/** Something in a record that is not valid. */
export interface Finding {
  readonly path: Path
  readonly code: string
  readonly message: string
}

/** A property that occurs a second time in its object. */
export const DUPLICATE_KEY = { code: 'duplicate_key', message: 'expected each property once' } as const

/** Yields a finding for each text and each property name of a value that has half of a surrogate pair. */
export function* halfPairs(value: unknown, path: Path): Generator<Finding, void, void> {
  if (typeof value === 'string') {
    if (!value.isWellFormed()) yield halfPair(path)
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value)) {
      if (!name.isWellFormed()) yield halfPair([...path, name])
      yield* halfPairs(inner, [...path, name])
    }
  }
}

function halfPair(path: Path): Finding {
  return { path, code: 'surrogate', message: 'expected well-formed Unicode, without half of a surrogate pair' }
}

/** Records that were parsed together. */
export interface RecordBatch {
  /** How many records of the source precede the batch. */
  readonly first: number
  readonly records: readonly unknown[]
  /** Returns the faults of a record that its parsed value does not show, such as a property that occurs twice. */
  faults(index: number): readonly Finding[]
  /** Returns where a record begins. */
  place(index: number): Place
  /**
   * Returns where the values at these paths of a record begin, or the innermost value around one that does not exist. In
   * YAML it is the place of the item.
   */
  places(index: number, paths: readonly Path[]): readonly Place[]
}

const encoder = new TextEncoder()

/** Returns the place behind a text that begins at a place. */
export function placeAfter({ offset, line }: Place, text: string): Place {
  return { offset: offset + encoder.encode(text).length, line: line + text.split('\n').length - 1 }
}
