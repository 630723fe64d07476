import type { IssueRecord } from '../../exchange/exchange.ts'
import { writeCsv, writeIssues } from '../../exchange/exchange.ts'
import { writeIssueFile } from '../../exchange/files.ts'
import type { CommandIO } from '../command.ts'
import { systemCode, unwritable } from '../files.ts'

/**
 * Writes a canonical document or CSV into a file, or to standard output if `out` is `-`. A reader of standard output that
 * closes it, such as `head`, has what it wants: the writing then ends without an error.
 *
 * @returns whether the document was written to its end
 * @throws CommandError (wrong usage) if it cannot be written; what `issues` throws
 */
export async function writeDocument(
  { out, format }: { readonly out: string; readonly format: 'document' | 'csv' },
  issues: AsyncIterable<IssueRecord>,
  io: CommandIO,
): Promise<boolean> {
  const write = format === 'csv' ? writeCsv : writeIssues
  try {
    if (out !== '-') await writeIssueFile(out, issues, { format })
    else for await (const bytes of write(issues)) await io.write(bytes)
    return true
  } catch (error) {
    if (out === '-' && isClosed(error)) return false
    throw unwritable(out, error)
  }
}

function isClosed(error: unknown): boolean {
  const code = systemCode(error)
  return code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED'
}
