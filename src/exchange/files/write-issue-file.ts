import { chmod, realpath, stat } from 'node:fs/promises'
import { need } from '../../schema/arguments.ts'
import type { IssueRecord } from '../../schema/issue-record.ts'
import type { CsvOptions } from '../documents/write-csv.ts'
import { writeCsv } from '../documents/write-csv.ts'
import { writeIssues } from '../documents/write-issues.ts'
import { ifMissing, pathOf, writeBeside, writePieces } from './target.ts'

/** Options of `writeIssueFile`. */
export interface IssueFileOptions extends CsvOptions {
  /** What is written: the canonical document (default), or CSV for a spreadsheet. Only CSV may have a byte order mark. */
  readonly format?: 'document' | 'csv' | undefined
}

/**
 * Writes the canonical document, or CSV, into a file. It is written beside the target and renamed at the end, so the target is
 * either complete or as it was. Source: docs/exchange.md, Files
 *
 * @throws ForgeError `INVALID_DOCUMENT` when an issue is not valid; the error of the file system; what `issues` throws
 */
export async function writeIssueFile(
  path: string | URL,
  issues: Iterable<IssueRecord> | AsyncIterable<IssueRecord>,
  { format = 'document', bom }: IssueFileOptions = {},
): Promise<void> {
  need(format === 'document' || format === 'csv', 'writeIssueFile', 'format', "'document' or 'csv'")
  const pieces = format === 'csv' ? writeCsv(issues, { bom }) : writeIssues(issues)
  const given = pathOf('writeIssueFile', path)
  const target = await realpath(given).catch(ifMissing(given)) // a link is followed, so that the file is replaced and not the link
  const found = await stat(target).catch(ifMissing(undefined))
  // A pipe or a device cannot be replaced.
  if (found !== undefined && !found.isFile()) return writePieces(target, pieces)

  await writeBeside(target, async (beside) => {
    await writePieces(beside, pieces, true)
    if (found !== undefined) await chmod(beside, found.mode)
  })
}
