import type { Command } from '@commander-js/extra-typings'
import type { Violation } from 'forgelet'
import { createForge } from 'forgelet'
import { memoryStorage } from 'forgelet/storage/memory'
import type { CommandIO } from '../command.ts'
import { counted, newCommand, printResult, violationLine } from '../command.ts'
import { ofSource, onSource } from './source.ts'
import { notCarriedLines, SourceReading } from './source-reading.ts'

const HELP = `
  forgelet issues validate issues.json
  gh api --paginate 'repos/acme/rocket/issues?state=all&direction=asc' | forgelet issues validate -

The first 100 violations are listed, each with its file, line and JSON pointer.`

/** Adds `forgelet issues validate`. */
export function addValidate(issues: Command, io: CommandIO): void {
  const command = newCommand(issues, 'validate', 'check a source of issues, and list what is wrong', HELP)
  ofSource(command).action(async (path, options) => {
    const reading = await onSource(path, options, io, 'checked', async (source) => {
      const all = new SourceReading(source, options, io, 'checking')
      await inspect(all)
      return all
    })
    const { recordCount: records, violations, total, notCarried } = reading
    const isValid = total === 0
    const lines = [
      ...violations.map(violationLine),
      `${reading.verdict()}; ${counted(records, 'record')}`,
      ...(options.quiet ? [] : notCarriedLines(notCarried)),
    ]
    printResult(io, options, { valid: isValid, records, violations, total, notCarried }, lines)
    if (!isValid) io.exitCode = 1
  })
}

/** Finds what an import into a repository without issues refuses. */
async function inspect(reading: SourceReading): Promise<void> {
  const { exchange } = createForge({
    services: ['exchange'],
    storage: memoryStorage(),
    policy: { authorize: () => ({ allow: true }) },
    issues: {
      issues: () => [],
      comments: () => [],
      findUsers: (users) => users.map(() => undefined),
      write: () => undefined,
    },
  })
  const records = Object.assign(reading.valid(), { position: () => reading.position() })
  const onInvalid = (violation: Violation): void => reading.refuse(violation)
  await exchange.inspect('system', { repositoryId: 1, records }, { onInvalid })
}
