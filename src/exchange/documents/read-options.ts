import { isObject, need } from '../../schema/arguments.ts'
import type { NotCarried } from '../../schema/issue-record.ts'
import { isIterable } from '../../schema/iteration.ts'
import type { OptionRules } from '../../schema/options.ts'
import { ANY, checkOptions, FUNCTION, oneOf, optional } from '../../schema/options.ts'
import type { MaybePromise } from '../../schema/sync-or-async.ts'
import type { Violation } from '../../schema/violation.ts'
import { FORMAT_NAMES } from '../forges/all-formats.ts'
import type { ConversionOptions } from '../forges/findings.ts'
import type { ExchangeFormat } from '../forges/forge-format.ts'
import type { ByteSource, OpenableBytes } from './byte-source.ts'
import { MAX_RECORD_BYTES } from './source-record.ts'

/** A source of several files: a Gitea dump, an unpacked GitLab export. `forgelet/exchange/files` opens folders as these. */
export interface SourceFolder {
  /** Returns the names of all files, with `/` between folders. */
  list(): MaybePromise<readonly string[]>
  /** Opens a file. It may be called three times for one. */
  open(name: string): ByteSource
}

/**
 * A source of one list. `json` is an array, several arrays one after the other (`gh api --paginate`), arrays in an array
 * (`--slurp`), or one record on each line. `ndjson` is the same, and may be empty: it is then a list without records. `yaml` is
 * one list, or several one after the other.
 */
export type ListSource =
  | { readonly json: OpenableBytes }
  | { readonly ndjson: OpenableBytes }
  | { readonly yaml: OpenableBytes }

/** A source of issues. */
export type IssueSource = ListSource | { readonly folder: SourceFolder }

/** Returns a file as a source. Its name says what is in it. */
export function listSource(name: string, bytes: OpenableBytes): ListSource {
  if (/\.ya?ml(?:\.gz)?$/i.test(name)) return { yaml: bytes }
  return /\.ndjson(?:\.gz)?$/i.test(name) ? { ndjson: bytes } : { json: bytes }
}

/** Returns the bytes of a source, or the function that opens them. */
export function bytesIn(source: ListSource): OpenableBytes {
  if ('yaml' in source) return source.yaml
  return 'ndjson' in source ? source.ndjson : source.json
}

/** How far a reading is. `bytes` are those of the source, before decompression. */
export interface ReadProgress {
  readonly records: number
  readonly bytes: number
}

/** Options of `readIssues` and `readExchange`. */
export interface ReadOptions extends ConversionOptions {
  /** Cancels the reading: it rejects with `signal.reason`. */
  readonly signal?: AbortSignal | undefined
  /** The form of the source. Default: recognized by its first record, or by the files of a folder. */
  readonly format?: ExchangeFormat | undefined
  /**
   * What happens to a record that is not valid. 'throw' (default): it ends the reading with `INVALID_DOCUMENT`. A
   * function receives its violations, and the record is left out. Bytes that cannot be read end the reading in any case.
   */
  readonly onInvalid?: 'throw' | ((violation: Violation) => void) | undefined
  /** Called once, at the end, with what the source has and an exchange record does not. */
  readonly onNotCarried?: ((what: readonly NotCarried[]) => void) | undefined
  /** Called every 100 ms at most, and at the end. */
  readonly onProgress?: ((progress: ReadProgress) => void) | undefined
  /** Called with the length of each piece of bytes, after decompression. What it throws ends the reading. */
  readonly onBytes?: ((bytes: number) => void) | undefined
  readonly limits?: ReadLimits | undefined
}

/** What a source may have at most. */
export interface ReadLimits {
  /**
   * Bytes of one record: an integer from 1 to 268,435,456. Default 67,108,864 (64 MiB), and of an object that is in no array,
   * such as the whole tracker that Bitbucket exports, 268,435,456 (256 MiB).
   */
  readonly maxRecordBytes?: number | undefined
}

const OPTIONS: OptionRules<ReadOptions> = {
  signal: ANY,
  format: oneOf(...FORMAT_NAMES),
  onInvalid: optional((value) => value === 'throw' || typeof value === 'function', "'throw' or a function"),
  confidential: oneOf('leave-out', 'keep'),
  minimized: oneOf('leave-out', 'keep'),
  sourceRepository: optional((value) => typeof value === 'string', "a text, such as 'acme/rocket'"),
  onNotCarried: FUNCTION,
  onProgress: FUNCTION,
  onBytes: FUNCTION,
  limits: ANY,
}
const LIMITS: OptionRules<ReadLimits> = {
  maxRecordBytes: optional((value) => {
    return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_RECORD_BYTES
  }, `an integer from 1 to ${MAX_RECORD_BYTES}`),
}

/** Throws if a source or its options are not valid. @throws TypeError that names what is wrong */
export function checkReading(caller: string, source: IssueSource, options: ReadOptions): void {
  const given = isObject(source) && ('folder' in source ? isObject(source.folder) : bytesIn(source))
  const isSource = given === true || isIterable(given) || typeof given === 'string' || typeof given === 'function'
  need(isSource, caller, 'a source', '{ json }, { ndjson }, { yaml } or { folder }')
  checkOptions(caller, options, OPTIONS)
  checkOptions(caller, options.limits ?? {}, LIMITS, 'limits.')
}
