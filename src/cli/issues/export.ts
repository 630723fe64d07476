import type { Command } from '@commander-js/extra-typings'
import type { IssueRecord } from '../../exchange/exchange.ts'
import type { CommandIO } from '../command.ts'
import { CommandError, counted, newCommand } from '../command.ts'
import { inRepository, withRepository } from './open-repository.ts'
import { writeDocument } from './write-document.ts'

const HELP = `
  forgelet issues export --repo acme/rocket --db forge.sqlite -o issues.json
  forgelet issues export --repo acme/rocket | gzip > issues.json.gz

The document has no comments, but e-mail addresses. OUT appears whole or not at all.`

/** Adds `forgelet issues export`. */
export function addExport(issues: Command, io: CommandIO): void {
  inRepository(newCommand(issues, 'export', 'write the issues of a repository of "forgelet serve"', HELP))
    .option('-o, --out <out>', 'file to write; - is standard output', '-')
    .action(async (options) => {
      const { out, json } = options
      let count = 0
      async function* untilStopped(records: AsyncIterable<IssueRecord>): AsyncGenerator<IssueRecord, void, void> {
        for await (const issue of records) {
          if (io.stop.aborted) throw new CommandError(3, 'stopped before the end')
          count += 1
          yield issue
        }
      }
      const isDone = await withRepository(options, io, ({ host, repositoryId }) => {
        const records = untilStopped(host.forge.exchange.export('system', repositoryId))
        return writeDocument({ out, format: 'document' }, records, io)
      })
      if (!isDone) return
      if (!json) io.err(`forgelet: ${counted(count, 'issue')} exported`)
      else if (out === '-') io.err(JSON.stringify({ records: count }))
      else io.out(JSON.stringify({ records: count }))
    })
}
