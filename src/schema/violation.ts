/**
 * One violation of an input: a JSON pointer (RFC 6901) to the invalid value, a code, and a message for people, which
 * does not contain the pointer. A violation in a document that was read from bytes also has a position: that of the value,
 * or of the first byte that cannot be read.
 */
export interface Violation {
  readonly pointer: string
  readonly code: string
  readonly message: string
  /** The number of bytes before the position. Of a compressed document: after decompression. */
  readonly offset?: number | undefined
  /** The line of the position. The first line is 1. */
  readonly line?: number | undefined
  /** The name of the file, if the source has several. */
  readonly file?: string | undefined
}
