import type { IssueRecord } from '../../exchange/exchange.ts'
import type { CommandIO, Environment, ExitCode } from '../command.ts'
import { CommandError } from '../command.ts'
import type { OptionValues } from '../options.ts'
import type { RepositoryAddress } from './open-repository.ts'
import { repositoryAddress, withRepository } from './open-repository.ts'
import { writeDocument } from './write-document.ts'

/**
 * Writes the issues of a repository as the canonical document.
 * @throws CommandError with the documented exit code
 */
export async function exportIssues({ address, out, json }: ExportOptions, io: CommandIO): Promise<ExitCode> {
  let count = 0
  async function* counted(issues: AsyncIterable<IssueRecord>): AsyncGenerator<IssueRecord, void, void> {
    for await (const issue of issues) {
      if (io.stop.aborted) throw new CommandError(3, 'stopped before the end')
      count += 1
      yield issue
    }
  }
  const isDone = await withRepository(address, (host, repositoryId) =>
    writeDocument(out, counted(host.forge.exchange.export('system', repositoryId)), io),
  )
  if (!isDone) return 0

  if (!json) io.err(`forgelet: ${count.toLocaleString('en')} ${count === 1 ? 'issue' : 'issues'} exported`)
  else if (out === '-') io.err(JSON.stringify({ records: count }))
  else io.out(JSON.stringify({ records: count }))
  return 0
}

/** The checked options of `forgelet issues export`. */
export interface ExportOptions {
  readonly address: RepositoryAddress
  /** A file, or `-` for standard output. */
  readonly out: string
  readonly json: boolean
}

/**
 * Checks the words and options of `forgelet issues export`.
 * @throws CommandError (wrong usage)
 */
export function exportOptions(words: readonly string[], values: OptionValues, environment: Environment): ExportOptions {
  if (words.length > 0) throw new CommandError(2, `unexpected argument "${words[0]}": name the file with --out`)
  return { address: repositoryAddress(values, environment), out: values.out ?? '-', json: values.json === true }
}
