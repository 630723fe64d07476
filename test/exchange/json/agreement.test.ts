// A validator by other hands reads the published schemas: a stream in pieces must accept what it accepts, and blame what it blames.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { changedDocuments } from '../../schema/documents/changed-documents.ts'
import { blamedByJudge } from '../../schema/documents/draft-04-judge.ts'
import { bytesOf, piecesOf, readSource } from '../reading.ts'

const LONG = process.env['LONG'] === '1'
const RECORDS = LONG ? 100_000 : 600
/** In bytes: every boundary within a token, some, and none. */
const SIZES = LONG ? [1, 2, 3, 7, 1000, 65_536] : [1, 7, 65_536]
const MAX_TEST_MS = 600_000 // the bound of the long form on a busy machine, never waited for
/** Tiny pieces cost most: they get the first records. */
const TINY_PIECES_RECORDS = 5_000

/** Records of generated documents, valid and violated, that have no half of a surrogate pair. */
function generatedRecords(): readonly unknown[] {
  const texts = fc
    .sample(changedDocuments, RECORDS)
    .flatMap((document) => (Array.isArray(document) ? document : []))
    .filter((record) => !Array.isArray(record))
    .map((record) => JSON.stringify(record))
    .filter((text) => !/\\ud[89a-f]/i.test(text))
  return texts.slice(0, RECORDS).map((text) => JSON.parse(text))
}

describe('an independent draft-04 validator', { timeout: MAX_TEST_MS }, () => {
  const records = generatedRecords()
  const blamed = records.map((record) => blamedByJudge([record]))

  test.each(SIZES)('agrees with a stream in pieces of %i bytes', async (size) => {
    const some = size < 1000 ? records.slice(0, TINY_PIECES_RECORDS) : records
    const found = new Map<string, Set<string>>()
    const bytes = bytesOf(JSON.stringify(some))
    // A first record with an odd property could make it the list of a forge.
    const { violations, issues } = await readSource({ json: piecesOf(bytes, size) }, { format: 'document' })
    for (const { pointer } of violations) {
      const [, index = '', ...rest] = pointer.split('/')
      found.set(index, (found.get(index) ?? new Set()).add(['/0', ...rest].join('/')))
    }

    expect(records.length).toBeGreaterThan(RECORDS / 2)
    for (const index of some.keys()) expect(found.get(String(index)) ?? new Set()).toStrictEqual(blamed[index])
    expect(issues).toStrictEqual(some.filter((_, index) => blamed[index]?.size === 0))
  })
})
