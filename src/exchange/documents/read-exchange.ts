import { jsonPointer } from '../../schema/documents/check.ts'
import { isForgeError } from '../../schema/errors.ts'
import { invalidDocument } from '../../schema/invalid-document.ts'
import type { ExchangeRecord, IssueRecord, RecordLocator, SourcePosition } from '../../schema/issue-record.ts'
import { isBytes } from '../../schema/realms.ts'
import { documentFormat, formatOfFolder, formatOfRecord, NO_FORGE } from '../forges/all-formats.ts'
import { isForeign } from '../forges/foreign.ts'
import type { Conversion, FolderFormat, LocatedRecords } from '../forges/forge-format.ts'
import { errorOfForge } from '../forges/not-read.ts'
import { readJson } from '../json/read-json.ts'
import { readYaml } from '../yaml/read-yaml.ts'
import { readBytes } from './byte-source.ts'
import type { IssueSource, ListSource, ReadOptions, SourceFolder } from './read-options.ts'
import { bytesIn, checkReading, listSource } from './read-options.ts'
import type { FaultyPart } from './reading.ts'
import { inside, Reading } from './reading.ts'
import { mayRepeat, Repetitions } from './repetitions.ts'
import type { Finding, SourceRecord, SourceRecords } from './source-record.ts'
import { BEGINNING, DEFAULT_RECORD_BYTES, Unreadable } from './source-record.ts'

/** Records that know where they are in their source. */
type Located<T> = AsyncIterable<T> & RecordLocator

/** A source of one list, or a list that was parsed before. */
type List = ListSource | { readonly parsed: readonly unknown[] }

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
export function readParsed(parsed: readonly unknown[], options: ReadOptions): Located<ExchangeRecord> {
  return recordsOf({ parsed }, options, (record) => record)
}

function recordsOf<T>(
  source: List | IssueSource,
  options: ReadOptions,
  pick: (record: ExchangeRecord) => T | undefined,
): Located<T> {
  const reading = new Reading(options)
  let last: SourcePosition | undefined
  async function* all(): AsyncGenerator<T, void, void> {
    const choose = (first: unknown): Conversion => formatOfRecord(first, options.format)
    for await (const batch of 'folder' in source ? folderOf(source.folder, reading) : listOf(source, reading, choose)) {
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

async function* folderOf(folder: SourceFolder, reading: Reading): LocatedRecords {
  const names = await folder.list()
  const unread = new Set(names)
  const [format, root] = formatOfFolder(names, reading.options.format)
  reading.state.files = new Set(names.flatMap((name) => (name.startsWith(root) ? [name.slice(root.length)] : [])))
  yield* format.read({
    state: reading.state,
    async *read(file, conversion) {
      const name = `${root}${file}`
      // A name may come from the source itself, and must not lead out of the folder.
      if (!unread.delete(name)) return
      const choose = typeof conversion === 'function' ? conversion : () => conversion
      const list = listSource(name, () => folder.open(name))
      yield* listOf(list, reading, choose, { ...format, file: name })
    },
  })
  for (const name of unread) {
    const word = format.wordOf === undefined ? 'file' : format.wordOf(name.slice(root.length))
    if (word !== undefined) reading.add(word, { pointer: '', file: name })
  }
}

/** Where a list is. One that is alone has no file. */
type InFolder = Partial<FolderFormat> & { readonly file?: string }

/** Yields what the records of a list become, up to the one that ends the reading. */
async function* listOf(
  list: List,
  reading: Reading,
  choose: (first: unknown) => Conversion | undefined,
  { file, isDump, expected }: InFolder = {},
): LocatedRecords {
  const inFile = file === undefined ? undefined : { file }
  const foreign = (): Unreadable => new Unreadable('folder', expected ?? NO_FORGE)
  let conversion: Conversion | undefined
  let repetitions: Repetitions | undefined
  let index = 0
  try {
    for await (const batch of recordsIn(list, reading, isDump)) {
      const located: { record: ExchangeRecord; position: SourcePosition }[] = []
      try {
        for (const record of batch) {
          const error = errorOfForge(record.value)
          if (error !== undefined) throw new Unreadable('format', error, record.position ?? BEGINNING, false)
          if (conversion === undefined) {
            conversion = choose(record.value)
            if (conversion === undefined) throw foreign()
            repetitions = await repetitionsIn(list, reading, conversion)
          }
          const whole = { pointer: `/${index}`, ...record.position, ...inFile }
          index += 1
          for (const part of partsOf(record, conversion)) {
            const position = part[0].length === 0 ? whole : inside(whole, part[0])
            const records = reading.accept(part, position, repetitions)
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

async function* recordsIn(list: List, reading: Reading, isDump?: true): SourceRecords {
  if ('parsed' in list) {
    for (const value of list.parsed) yield [{ value, position: undefined, faults: [] }]
    return
  }
  const { maxRecordBytes } = reading.options.limits ?? {}
  const bytes = readBytes(bytesIn(list), { ...reading.options, onRead: (count) => reading.onRead(count) })
  if ('yaml' in list) yield* readYaml(bytes, maxRecordBytes ?? DEFAULT_RECORD_BYTES, isDump)
  else yield* readJson(bytes, maxRecordBytes, 'ndjson' in list)
}

/** Returns the parts of a record that are converted alone, each with its faults. Most records have one part. */
function partsOf({ value, faults }: SourceRecord, { partsOf, convert }: Conversion): readonly FaultyPart[] {
  if (partsOf === undefined || !isForeign(value)) return [[[], value, convert, faults]]

  const parts = partsOf(value)
  const faultsOf = new Map(parts.map(([path]): [string, Finding[]] => [jsonPointer(path), []]))
  for (const fault of faults) {
    const depth = [2, 1].find((length) => faultsOf.has(jsonPointer(fault.path.slice(0, length)))) ?? 0
    faultsOf.get(jsonPointer(fault.path.slice(0, depth)))?.push({ ...fault, path: fault.path.slice(depth) })
  }
  return parts.map(([path, part, convertPart]) => [path, part, convertPart, faultsOf.get(jsonPointer(path)) ?? []])
}

/** Reads ahead which issues are repeated, if that may be and the source can be read again. */
async function repetitionsIn(
  list: List,
  { options }: Reading,
  { repeatsBy, ...conversion }: Conversion,
): Promise<Repetitions | undefined> {
  if (repeatsBy === undefined) return undefined

  const repetitions = new Repetitions()
  const nothing = { onInvalid: () => undefined, onNotCarried: undefined, onProgress: undefined, onBytes: undefined }
  try {
    if (!('parsed' in list)) {
      const bytes = bytesIn(list)
      const isReadOnce = typeof bytes === 'object' && !isBytes(bytes) && !Array.isArray(bytes)
      if (isReadOnce) return repetitions
      const { maxRecordBytes = DEFAULT_RECORD_BYTES } = options.limits ?? {}
      const scanned = readBytes(bytes, { signal: options.signal })
      if (!('yaml' in list) && !(await mayRepeat(scanned, repeatsBy, maxRecordBytes))) return undefined
    }
    const ahead = listOf(list, new Reading({ ...options, ...nothing }), () => conversion)
    for await (const batch of ahead) repetitions.note(batch.map(({ record }) => record))
  } catch (error) {
    // The reading itself finds what cannot be read.
    if (!(error instanceof Unreadable || isForgeError(error, 'INVALID_DOCUMENT'))) throw error
  }
  return repetitions
}
