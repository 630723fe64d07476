import type {
  ByteSource,
  ExchangeRecord,
  IssueRecord,
  IssueSource,
  NotCarried,
  ReadOptions,
} from '../../src/exchange/exchange.ts'
import { canonicalIssue, readExchange } from '../../src/exchange/exchange.ts'
import { canonicalMilestone } from '../../src/schema/canonical-issue.ts'
import { canonicalDateTime } from '../../src/schema/date-time.ts'
import type { Violation } from '../../src/schema/schema.ts'
import { isForgeError } from '../../src/schema/schema.ts'

/** Everything that a reading yields and reports. */
export interface Outcome {
  readonly records: readonly ExchangeRecord[]
  readonly issues: readonly IssueRecord[]
  readonly notCarried: readonly NotCarried[]
  readonly violations: readonly Violation[]
  /** How many violations the error counts that ended the reading. */
  readonly total: number
}

/** Reads a source to its end, or to the first record that is not valid. Any other error than INVALID_DOCUMENT is thrown. */
async function readToEnd(source: IssueSource, options: ReadOptions): Promise<Outcome> {
  const records: ExchangeRecord[] = []
  const notCarried: NotCarried[] = []
  const reading = readExchange(source, { onNotCarried: (what) => void notCarried.push(...what), ...options })
  const ended = async (): Promise<Pick<Outcome, 'violations' | 'total'>> => {
    try {
      for await (const record of reading) records.push(record)
      return { violations: [], total: 0 }
    } catch (error) {
      if (isForgeError(error, 'INVALID_DOCUMENT')) return error.details
      throw error
    }
  }
  const end = await ended()
  return { records, issues: records.flatMap((each) => (each.kind === 'issue' ? [each.issue] : [])), notCarried, ...end }
}

/** Reads a JSON source up to the first record that is not valid. */
export async function outcomeOf(json: ByteSource, options: ReadOptions = {}): Promise<Outcome> {
  return readToEnd({ json }, options)
}

/** Reads a source past the records that are not valid. */
export async function readSource(source: IssueSource, options: ReadOptions = {}): Promise<Outcome> {
  const found: Violation[] = []
  const outcome = await readToEnd(source, { onInvalid: (violation) => void found.push(violation), ...options })
  return { ...outcome, violations: [...found, ...outcome.violations] }
}

/** A folder with these texts. */
export function folderOf(files: { readonly [name: string]: string }): IssueSource {
  return { folder: { list: () => Object.keys(files), open: (name) => files[name] ?? '' } }
}

/** The words and counts of what is not carried. */
export function wordsOf({ notCarried }: Outcome): { readonly [what: string]: number } {
  return Object.fromEntries(notCarried.map(({ what, count }) => [what, count]))
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

/** A record with times and lists as a canonical document has them. */
export function canonical(record: ExchangeRecord): ExchangeRecord {
  if (record.kind === 'issue') return { kind: 'issue', issue: canonicalIssue(record.issue) }
  if (record.kind === 'milestone') return { kind: 'milestone', milestone: canonicalMilestone(record.milestone) }
  if (record.kind === 'label') return record
  const { created, updated, ...comment } = record.comment
  const times = { created: canonicalDateTime(created), updated: canonicalDateTime(updated) }
  return { kind: 'comment', comment: { ...comment, ...times } }
}
