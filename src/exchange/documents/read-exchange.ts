import { invalidDocument } from '../../schema/invalid-document.ts'
import type { ExchangeRecord, IssueRecord, RecordLocator, SourcePlace } from '../../schema/issue-record.ts'
import { formatOfFolder, formatOfRecord } from '../forges/all-formats.ts'
import { isForeign } from '../forges/foreign.ts'
import type { Conversion, Findings, LocatedRecords, Made } from '../forges/forge-format.ts'
import { NO_FINDINGS } from '../forges/forge-format.ts'
import { readJson } from '../json/read-json.ts'
import { readYaml } from '../yaml/read-yaml.ts'
import type { ByteObserver } from './byte-source.ts'
import { readBytes } from './byte-source.ts'
import type { IssueSource, ListSource, ReadOptions, SourceFolder } from './read-options.ts'
import { bytesIn, checkReading, listSource, maxRecordBytesOf } from './read-options.ts'
import { areRecords, Reading } from './reading.ts'
import { Repetitions } from './repetitions.ts'
import type { SourceRecords } from './source-record.ts'
import { Unreadable } from './source-record.ts'

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
    (first) => formatOfRecord(first, options.format).open(options, false).issues,
  )
}

async function* folderOf(folder: SourceFolder, reading: Reading): LocatedRecords {
  const unread = new Set(await folder.list())
  const format = formatOfFolder([...unread], reading.options.format)
  if (format === undefined) throw noForge()

  const root = format.rootIn([...unread]) ?? ''
  yield* format.read({
    options: reading.options,
    files: [...unread].filter((name) => name.startsWith(root)).map((name) => name.slice(root.length)),
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

function noForge(): Error {
  return invalidDocument([{ pointer: '', code: 'folder', message: 'expected a folder that a forge wrote' }])
}

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
  const maxRecordBytes = maxRecordBytesOf(reading.options)
  const given = bytesIn(source)
  const bytes = readBytes(typeof given === 'function' ? given() : given, reading)
  return 'yaml' in source
    ? readYaml(bytes, maxRecordBytes, isDump)
    : readJson(bytes, maxRecordBytes, 'ndjson' in source)
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
            if (conversion === undefined) throw noForge()
            if (conversion.mayRepeat) repetitions = await repetitionsIn(ahead?.(), conversion)
          }
          const place = { pointer: `/${index}`, ...bytes, ...inFile }
          index += 1
          const records = reading.accept(madeOf(value, conversion, reading), faults, place, repetitions)
          if (records === undefined) continue
          conversion.carried?.(records)
          for (const record of records) located.push({ record, place })
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

function madeOf(value: unknown, conversion: Conversion, findings: Findings): readonly Made[] {
  return isForeign(value) ? conversion.convert(value, findings) : [{ kind: 'issue', issue: value }]
}

/** Reads ahead which issues are repeated. @param records - undefined: the list can be read only once */
async function repetitionsIn(records: SourceRecords | undefined, conversion: Conversion): Promise<Repetitions> {
  const repetitions = new Repetitions()
  try {
    for await (const batch of records ?? []) {
      for (const { value, faults } of batch) {
        const made = madeOf(value, conversion, NO_FINDINGS)
        if (faults.length === 0 && areRecords(made)) repetitions.note(made)
      }
    }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error // the reading itself finds what cannot be read
  }
  return repetitions
}
