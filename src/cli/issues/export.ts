import type { IssueRecord } from '../../exchange/exchange.ts'
import type { CommandIO, ExitCode } from '../command.ts'
import { CommandError, counted } from '../command.ts'
import type { RepositoryOptions } from './open-repository.ts'
import { withRepository } from './open-repository.ts'
import { writeDocument } from './write-document.ts'

/** The options of `forgelet issues export`. */
export interface ExportOptions extends RepositoryOptions {
  /** A file, or `-` for standard output. */
  readonly out: string
}

/**
 * Writes the issues of a repository as the canonical document.
 * @throws CommandError with the documented exit code
 */
export async function exportIssues(options: ExportOptions, io: CommandIO): Promise<ExitCode> {
  const { out, json } = options
  let count = 0
  async function* untilStopped(issues: AsyncIterable<IssueRecord>): AsyncGenerator<IssueRecord, void, void> {
    for await (const issue of issues) {
      if (io.stop.aborted) throw new CommandError(3, 'stopped before the end')
      count += 1
      yield issue
    }
  }
  const isDone = await withRepository(options, io, ({ host, repositoryId }) =>
    writeDocument({ out, format: 'document' }, untilStopped(host.forge.exchange.export('system', repositoryId)), io),
  )
  if (!isDone) return 0

  if (!json) io.err(`forgelet: ${counted(count, 'issue')} exported`)
  else if (out === '-') io.err(JSON.stringify({ records: count }))
  else io.out(JSON.stringify({ records: count }))
  return 0
}
