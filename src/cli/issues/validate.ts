import type { CommandIO, ExitCode } from '../command.ts'
import { counted, printResult, violationLine } from '../command.ts'
import type { Source, SourceOptions, SourceReading } from './source-reading.ts'
import { invalidSource, notCarriedLines, openSource, shownSource } from './source-reading.ts'

/**
 * Checks a source of issues, and lists what is wrong and what is not carried.
 * @throws CommandError with the documented exit code
 */
export async function validate(path: string, options: SourceOptions, io: CommandIO): Promise<ExitCode> {
  const source = { ...options, path }
  const reading = await openSource(source, io, options.json ? undefined : 'checking')
  for await (const _ of reading.records());

  const { recordCount: records, violations, total, notCarried } = reading
  const result = { valid: total === 0, records, violations, total, notCarried }
  printResult(io, options, result, report(source, reading))
  return total === 0 ? 0 : 1
}

function report(source: Source, reading: SourceReading): readonly string[] {
  const { recordCount, violations, total, notCarried } = reading
  const summary = total === 0 ? `${shownSource(source)} is valid` : invalidSource(source, reading)
  return [
    ...violations.map(violationLine),
    `${summary}; ${counted(recordCount, 'record')}`,
    ...(source.quiet ? [] : notCarriedLines(notCarried)),
  ]
}
