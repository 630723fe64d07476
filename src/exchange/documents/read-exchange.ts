import { isForgeError } from '../../schema/errors.ts'
import { invalidDocument } from '../../schema/invalid-document.ts'
import type { ExchangeRecord, IssueRecord, RecordLocator, SourcePosition } from '../../schema/issue-record.ts'
import { documentFormat, formatOfFolder, formatOfRecord } from '../forges/all-formats.ts'
import { isForeign } from '../forges/foreign.ts'
import type { Conversion, FolderFormat, LocatedRecords, Part } from '../forges/forge-format.ts'
import { readJson } from '../json/read-json.ts'
import { readYaml } from '../yaml/read-yaml.ts'
import type { ByteObserver } from './byte-source.ts'
import { readBytes } from './byte-source.ts'
import type { IssueSource, ListSource, ReadOptions, SourceFolder } from './read-options.ts'
import { bytesIn, checkReading, listSource, sizeLimitsOf } from './read-options.ts'
import { inside, Reading } from './reading.ts'
import { mayRepeat, Repetitions } from './repetitions.ts'
import type { Path, SourceRecord, SourceRecords } from './source-record.ts'
import { BEGINNING, Unreadable } from './source-record.ts'

/**
 * Reads the issues of a source in its order, and checks each. The memory does not grow with the source.
 * Source: docs/exchange.md, Reading
 *
 * @throws ForgeError `INVALID_DOCUMENT` while it is iterated; TypeError at once when the source or an option is not valid
 */
export function readIssues(source: IssueSource, options: ReadOptions = {}): AsyncIterable<IssueRecord> & RecordLocator {
  checkReading('readIssues', source, options)
  return recordsOf(source, options, (record) => (record.kind === 'issue' ? record.issue : undefined))
}

/**
 * Reads all records of a source: labels, milestones, issues and comments. A document has only issues.
 * Source: docs/exchange.md, Reading
 *
 * @throws ForgeError `INVALID_DOCUMENT` while it is iterated; TypeError at once when the source or an option is not valid
 */
export function readExchange(
  source: IssueSource,
  options: ReadOptions = {},
): AsyncIterable<ExchangeRecord> & RecordLocator {
  checkReading('readExchange', source, options)
  return recordsOf(source, options, (record) => record)
}

/** Reads the records of a list that was parsed before. They have no positions in bytes. */
export function readParsed(
  parsed: readonly unknown[],
  options: ReadOptions,
): AsyncIterable<ExchangeRecord> & RecordLocator {
  return recordsOf({ parsed }, options, (record) => record)
}

function recordsOf<T>(
  source: ParsedList | IssueSource,
  options: ReadOptions,
  pick: (record: ExchangeRecord) => T | undefined,
): AsyncIterable<T> & RecordLocator {
  const reading = new Reading(options)
  let last: SourcePosition | undefined
  async function* all(): AsyncGenerator<T, void, void> {
    for await (const batch of 'folder' in source ? folderOf(source.folder, reading) : listOf(source, reading)) {
      for (const { record, position } of batch) {
        last = position
        const picked = pick(record)
        if (picked !== undefined) yield picked
      }
    }
    reading.end()
  }
  return Object.assign(all(), { position: () => last, greatestLeftOut: () => reading.state.greatestLeftOut })
}

/** A list that was parsed before. */
interface ParsedList {
  readonly parsed: readonly unknown[]
}

function listOf(source: ParsedList | ListSource, reading: Reading): LocatedRecords {
  return converted(source, (first) => formatOfRecord(first, reading.options.format), reading)
}

async function* folderOf(folder: SourceFolder, reading: Reading): LocatedRecords {
  const names = await folder.list()
  const unread = new Set(names)
  const found = formatOfFolder(names, reading.options.format)
  if (found === undefined) throw invalidDocument([{ pointer: '', code: 'folder', message: NO_FORGE }])

  const { format, root } = found
  reading.state.files = new Set(names.flatMap((name) => (name.startsWith(root) ? [name.slice(root.length)] : [])))
  yield* format.read({
    state: reading.state,
    async *read(file, conversion) {
      const name = `${root}${file}`
      // A name may come from the source itself, and must not lead out of the folder.
      if (!unread.delete(name)) return
      const source = listSource(name, () => folder.open(name))
      yield* converted(source, typeof conversion === 'function' ? conversion : () => conversion, reading, name, format)
    },
  })
  for (const name of unread) {
    const word = format.wordOf === undefined ? 'file' : format.wordOf(name.slice(root.length))
    if (word !== undefined) reading.leaveFile(word, name)
  }
}

const NO_FORGE = 'expected a folder that a forge wrote'

function recordsIn(source: ParsedList | ListSource, reading: Reading, isDump?: true): SourceRecords {
  if ('parsed' in source) return parsedRecords(source.parsed)

  const limits = sizeLimitsOf(reading.options)
  const bytes = openedBytes(source, reading)
  return 'yaml' in source ? readYaml(bytes, limits.record, isDump) : readJson(bytes, limits, 'ndjson' in source)
}

function openedBytes(source: ListSource, observer: ByteObserver): AsyncIterable<Uint8Array> {
  const bytes = bytesIn(source)
  return readBytes(typeof bytes === 'function' ? bytes() : bytes, observer)
}

async function* parsedRecords(list: readonly unknown[]): SourceRecords {
  for (const value of list) yield [{ value, position: undefined, faults: [] }]
}

/** Yields what the records of a list become, up to the one that ends the reading. */
async function* converted(
  source: ParsedList | ListSource,
  conversionOf: (first: unknown) => Conversion | undefined,
  reading: Reading,
  file?: string,
  { isDump, expected }: Partial<FolderFormat> = {},
): LocatedRecords {
  const inFile = file === undefined ? undefined : { file }
  const foreign = (): Unreadable => new Unreadable('folder', expected ?? NO_FORGE, BEGINNING, false)
  let conversion: Conversion | undefined
  let repetitions: Repetitions | undefined
  let index = 0
  try {
    for await (const batch of recordsIn(source, reading, isDump)) {
      const located: { record: ExchangeRecord; position: SourcePosition }[] = []
      try {
        for (const record of batch) {
          if (conversion === undefined) {
            conversion = conversionOf(record.value)
            if (conversion === undefined) throw foreign()
            repetitions = await repetitionsIn(source, reading, conversion)
          }
          const whole = { pointer: `/${index}`, ...record.position, ...inFile }
          index += 1
          for (const [path, part, convert, faults] of partsOf(record, conversion)) {
            const position = path.length === 0 ? whole : inside(whole, path)
            const records = reading.accept(part, convert, faults, position, repetitions)
            if (conversion !== documentFormat) reading.state.carried(records)
            for (const made of records) located.push({ record: made, position })
          }
        }
      } finally {
        yield located // also what precedes a record that is not valid
      }
    }
    if (conversion === undefined && expected !== undefined) throw foreign()
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    const { code, message, position, isInRecord } = error
    throw invalidDocument([{ pointer: isInRecord ? `/${index}` : '', code, message, ...position, ...inFile }])
  }
}

type Faults = SourceRecord['faults']

/** Returns the parts of a record that are converted alone, each with its faults. Most records have one part. */
function partsOf(
  { value, faults }: SourceRecord,
  conversion: Conversion,
): readonly (readonly [...part: Part, faults: Faults])[] {
  if (conversion.partsOf === undefined || !isForeign(value)) return [[WHOLE, value, conversion.convert, faults]]

  let others = faults
  const parts = conversion.partsOf(value).map(([path, part, convert]) => {
    const own = others.filter((fault) => path.every((step, at) => String(step) === String(fault.path[at])))
    others = others.filter((fault) => !own.includes(fault))
    return [path, part, convert, own.map((fault) => ({ ...fault, path: fault.path.slice(path.length) }))] as const
  })
  return others.length === 0 ? parts : [...parts, [WHOLE, {}, () => [], others]]
}

const WHOLE: Path = []

/** Reads ahead which issues are repeated, if that may be and the source can be read again. */
async function repetitionsIn(
  source: ParsedList | ListSource,
  { options, signal }: Reading,
  { repeatsBy, ...conversion }: Conversion,
): Promise<Repetitions | undefined> {
  if (repeatsBy === undefined) return undefined

  const repetitions = new Repetitions()
  const nothing = { onInvalid: () => undefined, onNotCarried: undefined, onProgress: undefined, onBytes: undefined }
  try {
    if (!('parsed' in source)) {
      const bytes = bytesIn(source)
      const isReadOnce = typeof bytes === 'object' && !(bytes instanceof Uint8Array) && !Array.isArray(bytes)
      if (isReadOnce) return repetitions
      const { record } = sizeLimitsOf(options)
      if (!('yaml' in source) && !(await mayRepeat(openedBytes(source, { signal }), repeatsBy, record)))
        return undefined
    }
    const ahead = new Reading({ ...options, ...nothing })
    for await (const batch of converted(source, () => conversion, ahead)) {
      repetitions.note(batch.map(({ record }) => record))
    }
  } catch (error) {
    // The reading itself finds what cannot be read.
    if (!(error instanceof Unreadable || isForgeError(error, 'INVALID_DOCUMENT'))) throw error
  }
  return repetitions
}
