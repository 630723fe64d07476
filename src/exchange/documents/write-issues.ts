import { need } from '../../schema/arguments.ts'
import { canonicalIssue } from '../../schema/canonical-issue.ts'
import { firstFindings, jsonPointer } from '../../schema/documents/check.ts'
import { issueCheck } from '../../schema/documents/record-schemas.ts'
import { invalidDocument } from '../../schema/invalid-document.ts'
import type { IssueRecord } from '../../schema/issue-record.ts'
import type { AnyIterable } from '../../schema/iteration.ts'
import { isIterable } from '../../schema/iteration.ts'
import { MAX_VIOLATIONS } from '../../schema/text.ts'
import { halfPairs } from './source-record.ts'

const PIECE_CHARACTERS = 32 * 1024

/**
 * Writes the canonical document: one issue on each line, in the given order.
 * Source: docs/exchange.md, The canonical document
 *
 * @throws ForgeError `INVALID_DOCUMENT` while it is iterated, when an issue is not valid; TypeError at once when
 * `issues` is not iterable
 */
export function writeIssues(issues: Iterable<IssueRecord> | AsyncIterable<IssueRecord>): AsyncIterable<Uint8Array> {
  need(isIterable(issues), 'writeIssues', 'issues', 'an array, or what readIssues returns')
  return encodedPieces(lines(issues))
}

async function* lines(issues: AnyIterable<IssueRecord>): AsyncGenerator<string, void, void> {
  let index = 0
  for await (const issue of issues) {
    yield `${index === 0 ? '[' : ','}\n${issueLine(issue, index)}`
    index += 1
  }
  yield index === 0 ? '[\n]\n' : '\n]\n'
}

/** Encodes texts, several at once. */
export async function* encodedPieces(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array, void, void> {
  const encoder = new TextEncoder()
  let piece = ''
  for await (const text of texts) {
    piece += text
    if (piece.length < PIECE_CHARACTERS) continue
    yield encoder.encode(piece)
    piece = ''
  }
  if (piece !== '') yield encoder.encode(piece)
}

/** Returns an issue as a line of a canonical document. @throws ForgeError `INVALID_DOCUMENT` when it is not valid */
export function issueLine(issue: IssueRecord, index: number): string {
  const fits = issueCheck.fits(issue)
  const text = fits ? JSON.stringify(canonicalIssue(issue)) : ''
  // JSON.stringify writes half of a surrogate pair as an escape.
  const halves = text.includes('\\ud') ? [...halfPairs(issue, [])] : []
  if (fits && halves.length === 0) return text
  const findings = fits ? halves : firstFindings(issueCheck, issue, MAX_VIOLATIONS)
  throw invalidDocument(findings.map(({ path, ...what }) => ({ pointer: jsonPointer([index, ...path]), ...what })))
}
