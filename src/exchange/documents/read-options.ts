import { isObject, need } from '../../schema/arguments.ts'
import type { Violation } from '../../schema/errors.ts'
import type { NotCarried } from '../../schema/issue-record.ts'
import type { OptionNames } from '../../schema/options.ts'
import { refuseUnknown } from '../../schema/options.ts'
import type { MaybePromise } from '../../schema/sync-or-async.ts'
import { formatNames } from '../forges/all-formats.ts'
import type { ExchangeFormat } from '../forges/forge-format.ts'
import type { ByteSource } from './byte-source.ts'
import { isByteSource } from './byte-source.ts'

/** A source of several files: a Gitea dump, an unpacked GitLab export. `forgelet/exchange/files` opens folders as these. */
export interface SourceFolder {
  /** Returns the names of all files, with `/` between folders. */
  list(): MaybePromise<readonly string[]>
  /** Opens a file. */
  open(name: string): ByteSource
}

/**
 * A source of one list. `json` is an array, several arrays one after the other (`gh api --paginate`), arrays in an array
 * (`--slurp`), or one record on each line. `yaml` is one list, or several one after the other.
 */
export type ListSource = { readonly json: ByteSource } | { readonly yaml: ByteSource }

/** A source of issues. */
export type IssueSource = ListSource | { readonly folder: SourceFolder }

/** Returns whether a file with this name is YAML. */
export function isYamlName(name: string): boolean {
  return /\.ya?ml(?:\.gz)?$/i.test(name)
}

/** How far a reading is. `bytes` are those of the source, before decompression. */
export interface ReadProgress {
  readonly records: number
  readonly bytes: number
}

/** Options of `readIssues` and `readExchange`. */
export interface ReadOptions {
  /** Cancels the reading: it rejects with `signal.reason`. */
  readonly signal?: AbortSignal | undefined
  /** The form of the source. Default: recognized by its first record, or by the files of a folder. */
  readonly format?: ExchangeFormat | undefined
  /**
   * What happens to a record that is not valid. 'throw' (default): it ends the reading with `INVALID_DOCUMENT`. A
   * function receives its violations, and the record is left out. Bytes that cannot be read end the reading in any case.
   */
  readonly onInvalid?: 'throw' | ((violation: Violation) => void) | undefined
  /** Records that not every reader of their forge may see. Default 'leave-out': they are reported as not carried. */
  readonly confidential?: 'leave-out' | 'keep' | undefined
  /** Comments that GitHub folds away, such as spam. Default 'leave-out'. They are reported as not carried in any case. */
  readonly minimized?: 'leave-out' | 'keep' | undefined
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
  /** Bytes of one record: an integer from 1 to 268,435,456. Default 67,108,864 (64 MiB). */
  readonly maxRecordBytes?: number | undefined
  /** Lists and objects inside each other, in one record: an integer from 1 to 512. Default 64. */
  readonly maxDepth?: number | undefined
}

const OPTIONS: OptionNames<ReadOptions> = {
  signal: true,
  format: true,
  onInvalid: true,
  confidential: true,
  minimized: true,
  onNotCarried: true,
  onProgress: true,
  onBytes: true,
  limits: true,
}
const LIMITS: OptionNames<ReadLimits> = { maxRecordBytes: true, maxDepth: true }
const MEBIBYTE = 1024 * 1024
/** A larger text may not fit into a string. */
const MAX_RECORD_BYTES = 256 * MEBIBYTE
/** Records are checked by functions that call themselves for each level. */
const MAX_DEPTH = 512
const DEFAULTS = { maxRecordBytes: 64 * MEBIBYTE, maxDepth: 64 } as const

/** Returns the limits of a reading. */
export function limitsOf({ limits }: ReadOptions): Required<{ [Name in keyof ReadLimits]: number }> {
  return {
    maxRecordBytes: limits?.maxRecordBytes ?? DEFAULTS.maxRecordBytes,
    maxDepth: limits?.maxDepth ?? DEFAULTS.maxDepth,
  }
}

/** Throws if a source or its options are not valid. @throws TypeError that names what is wrong */
export function checkReading(caller: string, source: IssueSource, options: ReadOptions): void {
  need(isObject(source) && isSource(source), caller, 'a source', '{ json }, { yaml } or { folder }')
  need(isObject(options), caller, 'options', 'an object such as { onInvalid }')
  refuseUnknown(caller, options, OPTIONS)
  refuseUnknown(caller, options.limits, LIMITS, 'limits.')
  const { format, onInvalid, confidential, minimized } = options
  need(format === undefined || formatNames().includes(format), caller, 'format', `one of ${formatNames().join(', ')}`)
  const isHandled = onInvalid === undefined || onInvalid === 'throw' || typeof onInvalid === 'function'
  need(isHandled, caller, 'onInvalid', "'throw' or a function")
  for (const [name, kept] of Object.entries({ confidential, minimized })) {
    const isKnown = kept === undefined || kept === 'leave-out' || kept === 'keep'
    need(isKnown, caller, name, "'leave-out' or 'keep'")
  }
  const { maxRecordBytes, maxDepth } = limitsOf(options)
  need(
    isFrom1To(MAX_RECORD_BYTES, maxRecordBytes),
    caller,
    'limits.maxRecordBytes',
    `an integer from 1 to ${MAX_RECORD_BYTES}`,
  )
  need(isFrom1To(MAX_DEPTH, maxDepth), caller, 'limits.maxDepth', `an integer from 1 to ${MAX_DEPTH}`)
}

function isSource(source: IssueSource): boolean {
  if ('folder' in source) return isObject(source.folder)
  return isByteSource('yaml' in source ? source.yaml : source.json)
}

function isFrom1To(most: number, value: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= most
}
