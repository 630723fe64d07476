import type { Command } from '@commander-js/extra-typings'
import type { CommandIO } from '../command.ts'
import { counted, newCommand, printResult, violationLine } from '../command.ts'
import { notCarriedLines, ofSource, openSource, SourceReading } from './source-reading.ts'

const HELP = `
  forgelet issues validate issues.json
  gh api --paginate 'repos/acme/rocket/issues?state=all' | forgelet issues validate - --json

The first 100 violations are listed, each with its file, line and JSON pointer.`

/** Adds `forgelet issues validate`. */
export function addValidate(issues: Command, io: CommandIO): void {
  const command = newCommand(issues, 'validate', 'check a source of issues, and list what is wrong', HELP)
  ofSource(command).action(async (path, options) => {
    const reading = new SourceReading(await openSource(path), options, io, 'checking')
    for await (const _ of reading.records());

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
