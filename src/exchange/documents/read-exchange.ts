import { invalidDocument } from '../../schema/invalid-document.ts'
import type { ExchangeRecord, IssueRecord, RecordLocator, SourcePlace } from '../../schema/issue-record.ts'
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
import { Repetitions } from './repetitions.ts'
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
  return recordsOf(sourceOf(source), options, (record) => (record.kind === 'issue' ? record.issue : undefined))
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
  return recordsOf(sourceOf(source), options, (record) => record)
}

/** Reads the records of a list that was parsed before. They have no places in bytes. */
export function readParsed(
  list: readonly unknown[],
  options: ReadOptions,
): AsyncIterable<ExchangeRecord> & RecordLocator {
  async function* records(): SourceRecords {
    for (const value of list) yield [{ value, place: undefined, faults: [] }]
  }
  return recordsOf(
    (reading) => listOf(records(), reading, records),
    options,
    (record) => record,
  )
}

function recordsOf<T>(
  read: (reading: Reading) => LocatedRecords,
  options: ReadOptions,
  pick: (record: ExchangeRecord) => T | undefined,
): AsyncIterable<T> & RecordLocator {
  const reading = new Reading(options)
  let last: SourcePlace | undefined
  async function* all(): AsyncGenerator<T, void, void> {
    for await (const batch of read(reading)) {
      for (const { record, place } of batch) {
        last = place
        const picked = pick(record)
        if (picked !== undefined) yield picked
      }
    }
    reading.end()
  }
  return Object.assign(all(), { place: () => last, greatestLeftOut: () => reading.greatestLeftOut })
}

function sourceOf(source: IssueSource): (reading: Reading) => LocatedRecords {
  return (reading) => {
    if ('folder' in source) return folderOf(source.folder, reading)
    const ahead = canReadAgain(source) ? () => readAhead(source, reading) : undefined
    return listOf(recordsIn(source, reading), reading, ahead)
  }
}

/** @param ahead - begins to read the list a second time; undefined: that is impossible */
function listOf(records: SourceRecords, reading: Reading, ahead: (() => SourceRecords) | undefined): LocatedRecords {
  const { options } = reading
  return converted(
    records,
    undefined,
    reading,
    ahead,
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
      const source = (): ListSource => listSource(name, folder.open(name))
      const records = recordsIn(source(), reading, format.isDump)
      yield* converted(records, name, reading, () => readAhead(source(), reading), conversionOf)
    },
  })
  for (const name of unread) {
    const word = format.wordOf === undefined ? 'file' : format.wordOf(name.slice(root.length))
    if (word !== undefined) reading.leaveFile(word, name)
  }
}

const NO_FORGE = { code: 'folder', message: 'expected a folder that a forge wrote' }

/** Returns whether a source can be read a second time. */
function canReadAgain(source: ListSource): boolean {
  const bytes = bytesIn(source)
  return ['string', 'function'].includes(typeof bytes) || bytes instanceof Uint8Array || Array.isArray(bytes)
}

/** Reads the records of a list, for what must be known before they are read. */
function readAhead(source: ListSource, { options, signal }: Reading): SourceRecords {
  return recordsIn(source, { options, signal, onRead: () => undefined, onBytes: () => undefined })
}

function recordsIn(source: ListSource, reading: ByteObserver & Pick<Reading, 'options'>, isDump?: true): SourceRecords {
  const limits = sizeLimitsOf(reading.options)
  const given = bytesIn(source)
  const bytes = readBytes(typeof given === 'function' ? given() : given, reading)
  return 'yaml' in source ? readYaml(bytes, limits.record, isDump) : readJson(bytes, limits, 'ndjson' in source)
}

/** Yields what the records of a list become, up to the one that ends the reading. */
async function* converted(
  batches: SourceRecords,
  file: string | undefined,
  reading: Reading,
  ahead: (() => SourceRecords) | undefined,
  conversionOf: (first: unknown) => Conversion | undefined,
): LocatedRecords {
  const inFile = file === undefined ? undefined : { file }
  let conversion: Conversion | undefined
  let repetitions: Repetitions | undefined
  let index = 0
  try {
    for await (const batch of batches) {
      const located: { record: ExchangeRecord; place: SourcePlace }[] = []
      try {
        for (const { value, place: bytes, faults } of batch) {
          if (conversion === undefined) {
            conversion = conversionOf(value)
            if (conversion === undefined) throw new Unreadable(NO_FORGE.code, NO_FORGE.message, BEGINNING, false)
            if (conversion.mayRepeat) repetitions = await repetitionsIn(ahead?.(), conversion)
          }
          const whole = { pointer: `/${index}`, ...bytes, ...inFile }
          index += 1
          const known = conversion
          const take = (part: unknown, path: Path, own: typeof faults, at: SourcePlace): void => {
            const records = reading.accept(madeOf(part, known, reading, path), own, at, repetitions)
            if (records === undefined) return
            known.state?.carried(records)
            for (const record of records) located.push({ record, place: at })
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
    const { code, message, place, isInRecord } = error
    throw invalidDocument([{ pointer: isInRecord ? `/${index}` : '', code, message, ...place, ...inFile }])
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

/** Reads ahead which issues are repeated. @param records - undefined: the list can be read only once */
async function repetitionsIn(records: SourceRecords | undefined, conversion: Conversion): Promise<Repetitions> {
  const repetitions = new Repetitions()
  try {
    for await (const batch of records ?? []) {
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
