import { need } from '../../schema/arguments.ts'
import { canonicalIssue } from '../../schema/canonical-issue.ts'
import type { IssueRecord } from '../../schema/issue-record.ts'
import type { AnyIterable } from '../../schema/iteration.ts'
import { isIterable } from '../../schema/iteration.ts'
import type { OptionRules } from '../../schema/options.ts'
import { checkOptions, optional } from '../../schema/options.ts'
import { encodedPieces, issueLine } from './write-issues.ts'

/** The columns, in their order, and what each has of an issue. */
const COLUMNS: { readonly [name: string]: (issue: IssueRecord) => string | number | boolean | null | undefined } = {
  number: ({ number }) => number,
  title: ({ title }) => title,
  state: ({ state }) => state,
  locked: ({ is_locked }) => is_locked,
  author: ({ poster_name }) => poster_name,
  assignees: ({ assignees }) => assignees?.join(', '),
  labels: ({ labels }) => labels?.map(({ name }) => name).join(', '),
  milestone: ({ milestone }) => milestone,
  created: ({ created }) => created,
  updated: ({ updated }) => updated,
  closed: ({ closed }) => closed,
  description: ({ content }) => content,
}

/** A spreadsheet takes a cell that begins with one of these for a formula. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/

/** Options of `writeCsv`. */
export interface CsvOptions {
  /** Whether a byte order mark is at the beginning: Excel takes CSV without it for another encoding. Default true. */
  readonly bom?: boolean | undefined
}

const CSV_OPTIONS: OptionRules<CsvOptions> = {
  bom: optional((value) => typeof value === 'boolean', 'a boolean'),
}

/**
 * Writes issues as CSV for a spreadsheet, one row an issue behind a row of names: RFC 4180, UTF-8. Nothing reads it
 * back. Source: docs/exchange.md, CSV
 *
 * @throws ForgeError `INVALID_DOCUMENT` while it is iterated, when an issue is not valid; TypeError at once when
 * `issues` is not iterable
 */
export function writeCsv(
  issues: Iterable<IssueRecord> | AsyncIterable<IssueRecord>,
  options: CsvOptions = {},
): AsyncIterable<Uint8Array> {
  checkOptions('writeCsv', options, CSV_OPTIONS)
  need(isIterable(issues), 'writeCsv', 'issues', 'an array, or what readIssues returns')
  return encodedPieces(rows(issues, options.bom ?? true))
}

async function* rows(issues: AnyIterable<IssueRecord>, bom: boolean): AsyncGenerator<string, void, void> {
  if (bom) yield '\ufeff'
  yield rowOf(Object.keys(COLUMNS))
  let index = 0
  for await (const issue of issues) {
    issueLine(issue, index) // throws if the issue is not valid
    const canonical = canonicalIssue(issue)
    yield rowOf(Object.values(COLUMNS).map((column) => String(column(canonical) ?? '')))
    index += 1
  }
}

function rowOf(cells: readonly string[]): string {
  return `${cells.map(cellOf).join(',')}\r\n`
}

function cellOf(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
