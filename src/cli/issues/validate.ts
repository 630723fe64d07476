import type { CommandIO, ExitCode } from '../command.ts'
import { violationLine } from '../command.ts'
import type { OptionValues } from '../options.ts'
import type { SourceOptions, SourceReading } from './source-reading.ts'
import { invalidSource, notCarriedLines, openSource, shownSource, sourceOptions } from './source-reading.ts'

/**
 * Checks a source of issues, and lists what is wrong and what is not carried.
 * @throws CommandError with the documented exit code
 */
export async function validate({ source, json }: ValidateOptions, io: CommandIO): Promise<ExitCode> {
  const reading = await openSource(source, io, json ? undefined : 'checking')
  for await (const _ of reading.records());

  if (json) io.out(asJson(reading))
  else for (const line of report(source, reading)) io.out(line)
  return reading.total === 0 ? 0 : 1
}

function asJson({ recordCount: records, violations, total, notCarried }: SourceReading): string {
  return JSON.stringify({ valid: total === 0, records, violations, total, notCarried })
}

function report(source: SourceOptions, reading: SourceReading): readonly string[] {
  const { recordCount, violations, total, notCarried } = reading
  const records = recordCount === 1 ? '1 record' : `${recordCount.toLocaleString('en')} records`
  const summary = total === 0 ? `${shownSource(source)} is valid` : invalidSource(source, reading)
  return [...violations.map(violationLine), ...notCarriedLines(notCarried), `${summary}; ${records}`]
}

/** The checked options of `forgelet issues validate`. */
export interface ValidateOptions {
  readonly source: SourceOptions
  readonly json: boolean
}

/**
 * Checks the words and options of `forgelet issues validate`.
 * @throws CommandError (wrong usage)
 */
export function validateOptions(words: readonly string[], values: OptionValues): ValidateOptions {
  return { source: sourceOptions(words, values), json: values.json === true }
}
