import { invalidDocument } from '../../schema/invalid-document.ts'
import type { ExchangeRecord, IssueRecord, RecordLocator, SourcePosition } from '../../schema/issue-record.ts'
import { formatOfFolder, formatOfRecord } from '../forges/all-formats.ts'
import { isForeign } from '../forges/foreign.ts'
import type { Conversion, Findings, LocatedRecords, Made, Part } from '../forges/forge-format.ts'
import { NO_FINDINGS } from '../forges/forge-format.ts'
import { readJson } from '../json/read-json.ts'
import { readYaml } from '../yaml/read-yaml.ts'
import type { ByteObserver } from './byte-source.ts'
import { readBytes } from './byte-source.ts'
import type { IssueSource, ListSource, ReadOptions, SourceFolder } from './read-options.ts'
import { bytesIn, checkReading, listSource, sizeLimitsOf } from './read-options.ts'
import { areRecords, inside, Reading } from './reading.ts'
import { mayRepeat, Repetitions } from './repetitions.ts'
import type { Path, SourceRecords } from './source-record.ts'
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
  return Object.assign(all(), { position: () => last, greatestLeftOut: () => reading.greatestLeftOut })
}

/** A list that was parsed before. */
interface ParsedList {
  readonly parsed: readonly unknown[]
}

function listOf(source: ParsedList | ListSource, reading: Reading): LocatedRecords {
  const { options } = reading
  return converted(
    source,
    undefined,
    reading,
    (first) => formatOfRecord(first, options.format).open(options, []).issues,
  )
}

async function* folderOf(folder: SourceFolder, reading: Reading): LocatedRecords {
  const names = await folder.list()
  const unread = new Set(names)
  const format = formatOfFolder(names, reading.options.format)
  if (format === undefined) throw invalidDocument([{ pointer: '', ...NO_FORGE }])

  const root = format.rootIn(names) ?? ''
  yield* format.read({
    options: reading.options,
    files: names.filter((name) => name.startsWith(root)).map((name) => name.slice(root.length)),
    async *read(file, conversionOf) {
      const name = `${root}${file}`
      // A name may come from the source itself, and must not lead out of the folder.
      if (!unread.delete(name)) return
      yield* converted(
        listSource(name, () => folder.open(name)),
        name,
        reading,
        conversionOf,
        format.isDump,
      )
    },
  })
  for (const name of unread) {
    const word = format.wordOf === undefined ? 'file' : format.wordOf(name.slice(root.length))
    if (word !== undefined) reading.leaveFile(word, name)
  }
}

const NO_FORGE = { code: 'folder', message: 'expected a folder that a forge wrote' }

function recordsIn(source: ParsedList | ListSource, reading: ByteReading, isDump?: true): SourceRecords {
  if ('parsed' in source) return parsedRecords(source.parsed)

  const limits = sizeLimitsOf(reading.options)
  const bytes = openedBytes(source, reading)
  return 'yaml' in source ? readYaml(bytes, limits.record, isDump) : readJson(bytes, limits, 'ndjson' in source)
}

type ByteReading = ByteObserver & Pick<Reading, 'options'>

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
  file: string | undefined,
  reading: Reading,
  conversionOf: (first: unknown) => Conversion | undefined,
  isDump?: true,
): LocatedRecords {
  const inFile = file === undefined ? undefined : { file }
  let conversion: Conversion | undefined
  let repetitions: Repetitions | undefined
  let index = 0
  try {
    for await (const batch of recordsIn(source, reading, isDump)) {
      const located: { record: ExchangeRecord; position: SourcePosition }[] = []
      try {
        for (const { value, position: bytes, faults } of batch) {
          if (conversion === undefined) {
            conversion = conversionOf(value)
            if (conversion === undefined) throw new Unreadable(NO_FORGE.code, NO_FORGE.message, BEGINNING, false)
            repetitions = await repetitionsIn(source, reading, conversion)
          }
          const whole = { pointer: `/${index}`, ...bytes, ...inFile }
          index += 1
          const known = conversion
          const take = (part: unknown, path: Path, own: typeof faults, at: SourcePosition): void => {
            const records = reading.accept(madeOf(part, known, reading, path), own, at, repetitions)
            if (records === undefined) return
            known.state?.carried(records)
            for (const record of records) located.push({ record, position: at })
          }
          const parts = partsOf(value, conversion)
          if (parts === undefined) take(value, WHOLE, faults, whole)
          let others = parts === undefined ? [] : faults
          for (const [path, part] of parts ?? []) {
            const own = others.filter((fault) => path.every((step, at) => String(step) === String(fault.path[at])))
            others = others.filter((fault) => !own.includes(fault))
            const inPart = own.map((fault) => ({ ...fault, path: fault.path.slice(path.length) }))
            take(part, path, inPart, inside(whole, path))
          }
          if (others.length > 0) reading.accept([], others, whole)
        }
      } catch (error) {
        yield located
        throw error
      }
      yield located
    }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    const { code, message, position, isInRecord } = error
    throw invalidDocument([{ pointer: isInRecord ? `/${index}` : '', code, message, ...position, ...inFile }])
  }
}

/** Returns the parts of a record that are converted alone. Undefined: it is converted as a whole. */
function partsOf(value: unknown, conversion: Conversion): readonly Part[] | undefined {
  return isForeign(value) ? conversion.partsOf?.(value) : undefined
}

const WHOLE: Path = []

function madeOf(part: unknown, conversion: Conversion, findings: Findings, path: Path): readonly Made[] {
  return isForeign(part) ? conversion.convert(part, findings, path) : [{ kind: 'issue', issue: part }]
}

/** Reads ahead which issues are repeated, if that may be and the source can be read again. */
async function repetitionsIn(
  source: ParsedList | ListSource,
  { options, signal }: Reading,
  conversion: Conversion,
): Promise<Repetitions | undefined> {
  const { repeatsBy } = conversion
  if (repeatsBy === undefined) return undefined

  const repetitions = new Repetitions()
  const reading = { options, signal, onRead: () => undefined, onBytes: () => undefined }
  try {
    if (!('parsed' in source)) {
      if (isReadOnce(source)) return repetitions
      const { record } = sizeLimitsOf(options)
      if (!('yaml' in source) && !(await mayRepeat(openedBytes(source, reading), repeatsBy, record))) return undefined
    }
    for await (const batch of recordsIn(source, reading)) {
      for (const { value, faults } of batch) {
        for (const [path, part] of partsOf(value, conversion) ?? [[WHOLE, value]]) {
          const made = madeOf(part, conversion, NO_FINDINGS, path)
          if (faults.length === 0 && areRecords(made)) repetitions.note(made)
        }
      }
    }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error // the reading itself finds what cannot be read
  }
  return repetitions
}

/** Returns whether the bytes of a source come only once. */
function isReadOnce(source: ListSource): boolean {
  const bytes = bytesIn(source)
  return typeof bytes === 'object' && !(bytes instanceof Uint8Array) && !Array.isArray(bytes)
}
