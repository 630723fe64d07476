import type { CommandIO, ExitCode } from '../command.ts'
import { violationLine } from '../command.ts'
import type { Source, SourceOptions, SourceReading } from './source-reading.ts'
import { invalidSource, notCarriedLines, openSource, shownSource } from './source-reading.ts'

/** The options of `forgelet issues validate`. */
export interface ValidateOptions extends SourceOptions {
  readonly json?: true | undefined
}

/**
 * Checks a source of issues, and lists what is wrong and what is not carried.
 * @throws CommandError with the documented exit code
 */
export async function validate(path: string, { json, ...options }: ValidateOptions, io: CommandIO): Promise<ExitCode> {
  const source = { ...options, path }
  const reading = await openSource(source, io, json ? undefined : 'checking')
  for await (const _ of reading.records());

  if (json) io.out(asJson(reading))
  else for (const line of report(source, reading)) io.out(line)
  return reading.total === 0 ? 0 : 1
}

function asJson({ recordCount: records, violations, total, notCarried }: SourceReading): string {
  return JSON.stringify({ valid: total === 0, records, violations, total, notCarried })
}

function report(source: Source, reading: SourceReading): readonly string[] {
  const { recordCount, violations, total, notCarried } = reading
  const records = recordCount === 1 ? '1 record' : `${recordCount.toLocaleString('en')} records`
  const summary = total === 0 ? `${shownSource(source)} is valid` : invalidSource(source, reading)
  return [
    ...violations.map(violationLine),
    `${summary}; ${records}`,
    ...(source.quiet ? [] : notCarriedLines(notCarried)),
  ]
}
