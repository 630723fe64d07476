import { invalidDocument } from '../../schema/invalid-document.ts'
import type { ExchangeRecord, IssueRecord, RecordLocator } from '../../schema/issue-record.ts'
import type { FolderCandidate } from '../forges/all-formats.ts'
import { formatOfRecord, formatsOfFolder } from '../forges/all-formats.ts'
import { isForeign } from '../forges/foreign.ts'
import type { Conversion, ConversionOptions, FolderFormat } from '../forges/forge-format.ts'
import { readJson } from '../json/read-json.ts'
import { readYaml } from '../yaml/read-yaml.ts'
import type { Bytes } from './byte-source.ts'
import { readBytes } from './byte-source.ts'
import { ConvertedBatch } from './converted-batch.ts'
import type { IssueSource, ListSource, ReadOptions, SourceFolder } from './read-options.ts'
import { checkReading, isYamlName, limitsOf } from './read-options.ts'
import { Reading, RecordFindings } from './reading.ts'
import type { RecordBatch } from './record-batch.ts'

type Batches = AsyncGenerator<ConvertedBatch, void, void>

/**
 * Reads the issues of a source in its order, and checks each. The memory does not grow with the source.
 * Source: docs/exchange.md, Reading
 *
 * @throws ForgeError `INVALID_DOCUMENT` while it is iterated; TypeError at once when the source or an option is not valid
 */
export function readIssues(source: IssueSource, options: ReadOptions = {}): AsyncIterable<IssueRecord> & RecordLocator {
  checkReading('readIssues', source, options)
  return recordsOf(batchesOf(source, options), (record) => (record.kind === 'issue' ? record.issue : undefined))
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
  return recordsOf(batchesOf(source, options), (record) => record)
}

function recordsOf<T>(
  batches: Batches,
  pick: (record: ExchangeRecord) => T | undefined,
): AsyncIterable<T> & RecordLocator {
  let lastBatch: ConvertedBatch | undefined
  let lastIndex = -1
  async function* all(): AsyncGenerator<T, void, void> {
    for await (const batch of batches) {
      lastBatch = batch
      lastIndex = -1
      for (const record of batch.records) {
        lastIndex += 1
        const picked = pick(record)
        if (picked !== undefined) yield picked
      }
      lastBatch = undefined
    }
  }
  return Object.assign(all(), { place: () => lastBatch?.placeOf(lastIndex) })
}

async function* batchesOf(source: IssueSource, options: ReadOptions): Batches {
  const reading = new Reading(options)
  yield* 'folder' in source ? folderOf(source.folder, options, reading) : listOf(source, options, reading)
  reading.end()
}

async function* listOf(source: ListSource, options: ReadOptions, reading: Reading): Batches {
  const findings = new RecordFindings(reading, undefined)
  let conversion: Conversion | undefined
  for await (const batch of recordsIn(source, options, reading, undefined)) {
    conversion ??= formatOfRecord(batch.records[0], options.format).open(conversionOptions(options))
    yield* converted(batch, conversion, { findings, reading, file: undefined })
  }
}

async function* folderOf(folder: SourceFolder, options: ReadOptions, reading: Reading): Batches {
  const names = await folder.list()
  const known = new Set(names)
  const open = (name: string): AsyncGenerator<RecordBatch, void, void> => {
    // A name may come from the source itself, and must not lead out of the folder.
    if (!known.has(name)) throw new TypeError(`the folder has no file ${name}`)
    const bytes = folder.open(name)
    return recordsIn(isYamlName(name) ? { yaml: bytes } : { json: bytes }, options, reading, name)
  }
  const format = await formatOf(names, options, open)
  yield* format.read({
    names,
    options: conversionOptions(options),
    async *read(name, conversion) {
      const findings = new RecordFindings(reading, name)
      for await (const batch of open(name)) yield* converted(batch, conversion, { findings, reading, file: name })
    },
    leave: (what, name) => reading.notCarried(what, '', name),
  })
}

async function formatOf(
  names: readonly string[],
  options: ReadOptions,
  open: (name: string) => AsyncGenerator<RecordBatch, void, void>,
): Promise<FolderFormat> {
  const candidates = formatsOfFolder(names, options.format)
  const [first, ...others] = candidates
  const chosen = others.length === 0 ? first : await formatOfIssues(candidates, open)
  if (chosen !== undefined) return chosen.folder

  throw invalidDocument([{ pointer: '', code: 'folder', message: 'expected a folder that a forge wrote' }])
}

async function formatOfIssues(
  candidates: readonly FolderCandidate[],
  open: (name: string) => AsyncGenerator<RecordBatch, void, void>,
): Promise<FolderCandidate | undefined> {
  const [first] = candidates
  for await (const { records } of first === undefined ? [] : open(first.issuesFile)) {
    return candidates.find(({ format }) => format.recognizes(records[0]))
  }
  return first // without issues every form reads the same
}

function recordsIn(
  source: ListSource,
  options: ReadOptions,
  reading: Reading,
  file: string | undefined,
): AsyncGenerator<RecordBatch, void, void> {
  const isYaml = 'yaml' in source
  const all = readBytes(isYaml ? source.yaml : source.json, reading)
  const bytes = options.onBytes === undefined ? all : observed(all, options.onBytes)
  return isYaml ? readYaml(bytes, limitsOf(options), file) : readJson(bytes, limitsOf(options), file)
}

async function* observed(bytes: Bytes, onBytes: (bytes: number) => void): Bytes {
  try {
    for (;;) {
      const piece = await bytes.next()
      if (piece.done === true) return piece.value
      onBytes(piece.value.length)
      yield piece.value
    }
  } finally {
    await bytes.return(undefined)
  }
}

/** The reading of one list. */
interface ListReading {
  readonly findings: RecordFindings
  readonly reading: Reading
  readonly file: string | undefined
}

/** Yields what the records of a batch become: once, or up to the record that ends the reading. */
function* converted(
  batch: RecordBatch,
  conversion: Conversion,
  { findings, reading, file }: ListReading,
): Generator<ConvertedBatch, void, void> {
  reading.count(batch.records.length)
  const all = new ConvertedBatch(batch, file)
  try {
    for (const [index, record] of batch.records.entries()) {
      const made = isForeign(record)
        ? conversion.convert(record, findings)
        : [{ kind: 'issue', issue: record } as const]
      const records = findings.settle(batch, index, made)
      if (records === undefined) continue
      conversion.carried?.(records)
      all.add(index, records)
    }
  } catch (error) {
    yield all
    throw error
  }
  yield all
}

function conversionOptions({ confidential = 'leave-out', minimized = 'leave-out' }: ReadOptions): ConversionOptions {
  return { confidential, minimized }
}
