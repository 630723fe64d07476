import type { Command } from '@commander-js/extra-typings'
import type { IssueRecord } from 'forgelet/exchange'
import { writeCsv, writeIssues } from 'forgelet/exchange'
import { writeIssueFile } from 'forgelet/exchange/files'
import type { CommandIO, ResultOptions } from '../command.ts'
import { counted, newCommand } from '../command.ts'
import { systemCode, unwritable } from '../files.ts'
import { inRepository, withRepository } from './open-repository.ts'

const HELP = `
  forgelet issues export --repo acme/rocket --db forge.sqlite -o issues.json
  forgelet issues export --repo acme/rocket | gzip > issues.json.gz

The document has no comments, but e-mail addresses. OUT appears whole or not at all.`

/** Adds `forgelet issues export`. */
export function addExport(issues: Command, io: CommandIO): void {
  inRepository(newCommand(issues, 'export', 'write the issues of a repository of "forgelet serve"', HELP))
    .option('-o, --out <out>', 'file to write; - is standard output', '-')
    .action(async (options) => {
      let records = 0
      async function* counting(issues: AsyncIterable<IssueRecord>): AsyncGenerator<IssueRecord, void, void> {
        for await (const issue of issues) {
          records += 1
          yield issue
        }
      }
      const isDone = await withRepository(options, io, ({ forge, repositoryId }) => {
        const issues = forge.exchange.export('system', repositoryId, { signal: io.stop })
        return writeDocument({ out: options.out, format: 'document' }, counting(issues), io)
      })
      if (isDone) reportWritten(io, options, { records }, [`forgelet: ${counted(records, 'issue')} exported`])
    })
}

/**
 * Writes a canonical document or CSV into a file, or to standard output if `out` is `-`. A reader of standard output that
 * closes it, such as `head`, has what it wants: the writing then ends without an error.
 *
 * @returns whether the document was written to its end
 * @throws CommandError (wrong usage) if it cannot be written; what `issues` throws
 */
export async function writeDocument(
  { out, format, bom }: { readonly out: string; readonly format: 'document' | 'csv'; readonly bom?: boolean },
  issues: AsyncIterable<IssueRecord>,
  io: CommandIO,
): Promise<boolean> {
  try {
    if (out !== '-') await writeIssueFile(out, issues, { format, bom })
    else
      for await (const bytes of format === 'csv' ? writeCsv(issues, { bom }) : writeIssues(issues))
        await io.write(bytes)
    return true
  } catch (error) {
    if (out === '-' && isClosed(error)) return false
    throw unwritable(`--out ${out}`, error)
  }
}

/** Reports what was written, on standard error if that is a line for people, or if standard output is taken. */
export function reportWritten(
  io: CommandIO,
  { out, json }: ResultOptions & { readonly out: string },
  result: object,
  lines: readonly string[],
): void {
  const print = json && out !== '-' ? io.out : io.err
  for (const line of json ? [JSON.stringify(result)] : lines) print(line)
}

function isClosed(error: unknown): boolean {
  const code = systemCode(error)
  return code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED'
}
