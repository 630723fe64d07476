import type { ByteSource, IssueRecord, ReadOptions } from '../../src/exchange/exchange.ts'
import { readIssues } from '../../src/exchange/exchange.ts'
import type { Violation } from '../../src/schema/schema.ts'
import { isForgeError } from '../../src/schema/schema.ts'

/** What a reading yields, and how it ends. */
export interface Outcome {
  readonly issues: readonly IssueRecord[]
  /** Those of the error that ended the reading. */
  readonly violations: readonly Violation[]
  readonly total: number
}

/** Reads a JSON source to its end. Any other error than INVALID_DOCUMENT is thrown. */
export async function outcomeOf(json: ByteSource, options: ReadOptions = {}): Promise<Outcome> {
  const issues: IssueRecord[] = []
  try {
    for await (const issue of readIssues({ json }, options)) issues.push(issue)
    return { issues, violations: [], total: 0 }
  } catch (error) {
    if (!isForgeError(error, 'INVALID_DOCUMENT')) throw error
    return { issues, ...error.details }
  }
}

/** Reads a JSON source past the records that are not valid. */
export async function allViolationsOf(json: ByteSource, options: ReadOptions = {}): Promise<Outcome> {
  const found: Violation[] = []
  const outcome = await outcomeOf(json, { ...options, onInvalid: (violation) => found.push(violation) })
  return { ...outcome, violations: [...found, ...outcome.violations] }
}

/** Bytes in pieces of one size, all of them in the same memory. */
export function* piecesOf(bytes: Uint8Array, size: number): Generator<Uint8Array, void, void> {
  const memory = new Uint8Array(size)
  for (let at = 0; at < bytes.length; at += size) {
    const piece = bytes.subarray(at, at + size)
    memory.set(piece)
    yield memory.subarray(0, piece.length)
  }
}

/** The bytes of a text. */
export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
