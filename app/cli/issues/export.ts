import type { Command } from '@commander-js/extra-typings'
import type { IssueRecord } from 'forgelet/exchange'
import type { CommandIO } from '../command.ts'
import { counted, newCommand } from '../command.ts'
import { inRepository, withRepository } from './open-repository.ts'
import { reportWritten, writeDocument } from './write-document.ts'

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
