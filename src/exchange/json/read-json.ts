import type { ValueNode } from '@humanwhocodes/momoa'
import { parse, tokenize } from '@humanwhocodes/momoa'
import { isError } from '../../schema/realms.ts'
import type { BytePosition, Faults, Path, SourceRecord, SourceRecords } from '../documents/source-record.ts'
import { DUPLICATE_KEY, decoded, halfPairs, positionAfter, Unreadable } from '../documents/source-record.ts'
import { faultOfText } from '../forges/not-read.ts'
import type { RawRecord } from './record-scanner.ts'
import { RecordScanner } from './record-scanner.ts'

/** What lives longer than a few records is collected late. */
const BATCH_CHARACTERS = 16 * 1024

/**
 * Reads the records of a JSON source: the elements of an array, of several arrays one after the other, and of arrays in
 * an array, and objects one after the other.
 *
 * @param mayBeEmpty - whether nothing at all is a list without records
 * @throws Unreadable at the first byte that cannot be read, after all records before it
 */
export async function* readJson(
  bytes: AsyncIterable<Uint8Array>,
  maxRecordBytes: number | undefined,
  mayBeEmpty: boolean,
): SourceRecords {
  const scanner = new RecordScanner(maxRecordBytes)
  for await (const piece of bytes) {
    let records: SourceRecord[] = []
    let characters = 0
    try {
      for (const raw of scanner.scan(piece)) {
        const { position } = raw
        const text = decoded(raw.bytes, position)
        const value = parsed(text, position)
        records.push({ value, position, faults: faultsOf(value, text, raw) })
        characters += text.length
        if (characters < BATCH_CHARACTERS) continue
        yield records
        records = []
        characters = 0
      }
    } catch (error) {
      yield records
      const isAtBeginning = error instanceof Unreadable && !error.isInRecord && error.position.offset < piece.length
      throw (isAtBeginning && faultOfText(piece)) || error
    }
    yield records
  }
  scanner.end(mayBeEmpty)
}

function parsed(text: string, position: BytePosition): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Unreadable('json', 'expected JSON', positionAfter(position, text.slice(0, faultIn(text))))
  }
}

function faultsOf(value: unknown, text: string, { colons }: RawRecord): Faults {
  const duplicates = countProperties(value) === colons ? [] : duplicatesIn(text)
  // Half of a surrogate pair can only come from an escape.
  if (!text.includes('\\u') || !/\\u[dD]/.test(text)) return duplicates
  return [...duplicates, ...halfPairs(value, [])]
}

/** If a property occurs twice in an object, a record has fewer properties than its text has colons. */
function countProperties(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0

  const parts: readonly unknown[] = Array.isArray(value) ? value : Object.values(value)
  let count = Array.isArray(value) ? 0 : parts.length
  for (const part of parts) if (typeof part === 'object') count += countProperties(part)
  return count
}

// JSON.parse reads the records. A slower parser finds the line and the column of an error. It runs only after an error, and not in
// a long text: it blocks the event loop for half a second for each MiB, and needs up to 200 MB of memory for it.

const MAX_SEARCHED = 1024 * 1024

/** Returns the index at which a text stops being JSON: its length if only the end is missing, 0 if it is too long to search. */
function faultIn(text: string): number {
  if (text.length > MAX_SEARCHED) return 0
  try {
    parse(text, { mode: 'json' })
  } catch (error) {
    const isInside = isError(error) && 'offset' in error && !AT_END.test(error.message)
    return isInside && typeof error.offset === 'number' ? error.offset : text.length
  }
  // The parser accepts control characters in texts.
  for (const { type, loc } of tokenize(text, { mode: 'json' })) {
    const control = type === 'String' ? text.slice(loc.start.offset, loc.end.offset).search(CONTROL) : -1
    if (control !== -1) return loc.start.offset + control
  }
  return 0
}

/** The parser takes the end of a text for this character. */
const AT_END = /end of input|\uffff/
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has none of them in texts
const CONTROL = /[\0-\x1f]/

/** Returns a finding for each property that occurs a second time in its object, or one for all if the text is too long to search. */
function duplicatesIn(text: string): Faults {
  if (text.length > MAX_SEARCHED) return [{ path: [], ...DUPLICATE_KEY }]
  return [...duplicates(parse(text, { mode: 'json' }).body, [])]
}

function* duplicates(node: ValueNode, path: Path): Generator<Faults[number], void, void> {
  if (node.type === 'Array') {
    for (const [at, { value }] of node.elements.entries()) yield* duplicates(value, [...path, at])
  }
  if (node.type !== 'Object') return

  const names = new Set<string>()
  for (const { name, value } of node.members) {
    const inner = [...path, nameOf(name)]
    if (names.has(nameOf(name))) yield { path: inner, ...DUPLICATE_KEY }
    names.add(nameOf(name))
    yield* duplicates(value, inner)
  }
}

function nameOf(name: { readonly value: string } | { readonly name: string }): string {
  return 'value' in name ? name.value : name.name
}
