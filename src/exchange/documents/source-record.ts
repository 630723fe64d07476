import { invalidDocument } from '../../schema/invalid-document.ts'

/** The path of a value: property names and array indexes. */
export type Path = readonly PropertyKey[]

/** Where something begins in a source: the number of bytes before it, and its line from 1 on. */
export interface BytePosition {
  readonly offset: number
  readonly line: number
}

/** A source that cannot be read at all has no better position. */
export const BEGINNING: BytePosition = { offset: 0, line: 1 }

/** Something in a record that is not valid. */
export interface Finding {
  readonly path: Path
  readonly code: string
  readonly message: string
}

/** A record of a source, before it is converted and checked. */
export interface SourceRecord {
  readonly value: unknown
  /** Undefined: it was not read from bytes. */
  readonly position: BytePosition | undefined
  readonly faults: Faults
}

/** What the value of a record does not show, such as a property that occurs twice. */
export type Faults = readonly Finding[]

/** The records of a list, several at once. It throws `Unreadable` behind the last record that can be read. */
export type SourceRecords = AsyncGenerator<readonly SourceRecord[], void, void>

const MEBIBYTE = 1024 * 1024
/** Bytes of one record that may have more than `DEFAULT_RECORD_BYTES`. A larger text may not fit into a string. */
export const MAX_RECORD_BYTES: number = 256 * MEBIBYTE
/** Bytes of one record, unless another limit is given. An object that is in no array may be a whole tracker, and have more. */
export const DEFAULT_RECORD_BYTES: number = 64 * MEBIBYTE

/** Lists and objects inside each other, in one record. */
export const MAX_DEPTH = 64

/** The bytes of a source cannot be read any further. */
export class Unreadable extends Error {
  readonly code: string
  readonly position: BytePosition
  /** Whether the fault is in a record, and not between two records. */
  readonly isInRecord: boolean

  /** @param position - undefined: the source cannot be read at all */
  constructor(code: string, message: string, position?: BytePosition, isInRecord: boolean = position !== undefined) {
    super(message)
    this.code = code
    this.position = position ?? BEGINNING
    this.isInRecord = isInRecord
  }

  /** A record is too long. */
  static tooLarge(maxBytes: number, position: BytePosition): Unreadable {
    return new Unreadable('too_large', `expected at most ${maxBytes} bytes in one record`, position)
  }
}

/** Creates the error for a source that is refused before any list in it is read, or for several lists together. */
export function refusal(code: string, message: string): Error {
  return invalidDocument([{ pointer: '', code, message }])
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Decodes the bytes of a record. @throws Unreadable if they are not UTF-8 */
export function decoded(bytes: Uint8Array, position: BytePosition): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw new Unreadable('utf8', 'expected UTF-8 in this record', position)
  }
}

/** A property that occurs a second time in its object. */
export const DUPLICATE_KEY = { code: 'duplicate_key', message: 'expected each property once' } as const

/** Half of a surrogate pair. */
export const HALF_PAIR = {
  code: 'surrogate',
  message: 'expected well-formed Unicode, without half of a surrogate pair',
} as const

/** Yields a finding for each text and each property name of a value that has half of a surrogate pair. */
export function* halfPairs(value: unknown, path: Path): Generator<Finding, void, void> {
  if (typeof value === 'string') {
    if (!value.isWellFormed()) yield { path, ...HALF_PAIR }
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value)) {
      if (!name.isWellFormed()) yield { path: [...path, name], ...HALF_PAIR }
      yield* halfPairs(inner, [...path, name])
    }
  }
}

const encoder = new TextEncoder()

/** Returns the position behind a text that begins at a position. */
export function positionAfter({ offset, line }: BytePosition, text: string): BytePosition {
  return { offset: offset + encoder.encode(text).length, line: line + text.split('\n').length - 1 }
}
