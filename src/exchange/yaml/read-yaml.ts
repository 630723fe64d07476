import { ByteBuffer } from '../documents/byte-source.ts'
import type { BytePosition, SourceRecord, SourceRecords } from '../documents/source-record.ts'
import { DUPLICATE_KEY, decoded, halfPairs, MAX_DEPTH, positionAfter, Unreadable } from '../documents/source-record.ts'
import { fromGoYaml } from './go-yaml.ts'

/** An issue of a Gitea dump. */
const OF_DUMP = /^ *foreignindex: /m
/** The list of records is one level more. */
const OPTIONS = { maxAliases: 0, maxDepth: MAX_DEPTH + 1 }

/**
 * Reads the records of a YAML source: the items of a list, or of several lists one after the other. What belongs to an
 * item is indented, so a hyphen at the beginning of a line begins the next one, whatever the item contains, and each item
 * is parsed alone.
 *
 * @param isDump - whether Gitea wrote the source; undefined: an issue shows it
 * @throws Unreadable at the first item that cannot be read, after all records before it
 */
export async function* readYaml(
  bytes: AsyncIterable<Uint8Array>,
  maxRecordBytes: number,
  isDump: boolean | undefined,
): SourceRecords {
  const { loadAll, YAMLException } = await import('js-yaml') // only sources that are YAML need it
  for await (const item of itemsIn(bytes, maxRecordBytes)) yield recordsOf(item)

  function recordsOf({ text: given, position }: Item): readonly SourceRecord[] {
    const text = (isDump ?? OF_DUMP.test(given)) ? fromGoYaml(given) : given
    try {
      // The strings of a document are slices of its text, and V8 keeps the whole text as long as one of them is in use.
      const values = loadAll(text, OPTIONS).flatMap((document) => valuesOf(structuredClone(document), position))
      // Half of a surrogate pair can only come from an escape.
      const mayHaveHalfPairs = /\\(?:u|U0000)[dD]/.test(text)
      return values.map((value) => ({ value, position, faults: mayHaveHalfPairs ? [...halfPairs(value, [])] : [] }))
    } catch (error) {
      if (!(error instanceof YAMLException)) throw error
      const at = text === given ? positionAfter(position, text.slice(0, error.mark?.position ?? 0)) : position
      if (error.reason.startsWith('duplicated')) throw new Unreadable(DUPLICATE_KEY.code, DUPLICATE_KEY.message, at)
      throw new Unreadable('yaml', `expected YAML: ${error.reason}`, at)
    }
  }
}

/** A document between two markers, or behind the last, is null. */
function valuesOf(document: unknown, position: BytePosition): readonly unknown[] {
  if (document === null || document === undefined) return []
  if (Array.isArray(document)) return document
  throw new Unreadable('yaml', 'expected a list of records', position)
}

/** A part of a source that is parsed alone. */
interface Item {
  readonly text: string
  readonly position: BytePosition
}

const LINE_FEED = 10
/** What begins at the left margin: an item or a document (`-`), a list in brackets, the end of a document (`...`). */
const BEGINNINGS: readonly (number | undefined)[] = [45, 91, 46]

/** Cuts the bytes of a source where items begin. @throws Unreadable */
async function* itemsIn(bytes: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Item, void, void> {
  const begun = new ByteBuffer()
  let position: BytePosition = { offset: 0, line: 1 }
  const append = (part: Uint8Array): void => {
    begun.append(part)
    if (begun.length > maxBytes) throw Unreadable.tooLarge(maxBytes, position)
  }
  const item = (): Item => {
    const ended = { text: decoded(begun.take(), position), position }
    position = positionAfter(position, ended.text)
    return ended
  }
  let isLineStart = true
  for await (const piece of bytes) {
    let from = 0
    let at = isLineStart ? 0 : piece.indexOf(LINE_FEED) + 1 || piece.length
    while (at < piece.length) {
      if (BEGINNINGS.includes(piece[at])) {
        append(piece.subarray(from, at))
        if (begun.length > 0) yield item()
        from = at
      }
      at = piece.indexOf(LINE_FEED, at) + 1 || piece.length
    }
    isLineStart = piece.at(-1) === LINE_FEED
    append(piece.subarray(from))
  }
  if (begun.length > 0) yield item()
}
