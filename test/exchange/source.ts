import type { ExchangeRecord, IssueSource, NotCarried, ReadOptions } from '../../src/exchange/exchange.ts'
import { readExchange } from '../../src/exchange/exchange.ts'
import type { Violation } from '../../src/schema/schema.ts'
import { isForgeError } from '../../src/schema/schema.ts'

/** Everything that a reading of a source yields and reports. */
export interface SourceOutcome {
  readonly records: readonly ExchangeRecord[]
  readonly notCarried: readonly NotCarried[]
  readonly violations: readonly Violation[]
}

/** Reads a source to its end, past the records that are not valid. */
export async function readSource(source: IssueSource, options: ReadOptions = {}): Promise<SourceOutcome> {
  const records: ExchangeRecord[] = []
  const violations: Violation[] = []
  const notCarried: NotCarried[] = []
  try {
    const reading = readExchange(source, {
      onInvalid: (violation) => void violations.push(violation),
      onNotCarried: (what) => void notCarried.push(...what),
      ...options,
    })
    for await (const record of reading) records.push(record)
  } catch (error) {
    if (!isForgeError(error, 'INVALID_DOCUMENT')) throw error
    violations.push(...error.details.violations)
  }
  return { records, notCarried, violations }
}

/** A folder with these texts. */
export function folderOf(files: { readonly [name: string]: string }): IssueSource {
  return { folder: { list: () => Object.keys(files), open: (name) => files[name] ?? '' } }
}

/** The words and counts of what is not carried. */
export function wordsOf({ notCarried }: SourceOutcome): { readonly [what: string]: number } {
  return Object.fromEntries(notCarried.map(({ what, count }) => [what, count]))
}
