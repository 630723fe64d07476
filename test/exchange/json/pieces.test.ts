import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { changedDocuments } from '../../schema/documents/changed-documents.ts'
import { fullIssue } from '../../schema/documents/sample-issue.ts'
import type { Outcome } from '../reading.ts'
import { bytesOf, piecesOf, readSource } from '../reading.ts'

const SIZES = [1, 2, 3, 7, 4096]
const RUNS = process.env['LONG'] === '1' ? 2_000 : 300

/** Documents with what an attentive reader of bytes trips over. */
const texts: fc.Arbitrary<string> = fc.oneof(
  changedDocuments.map((document) => JSON.stringify(document)),
  changedDocuments.map((document) => JSON.stringify(document, null, 2)),
  fc
    .array(changedDocuments, { maxLength: 3 })
    .map((documents) => documents.map((each) => JSON.stringify(each)).join('\n')),
  fc.array(changedDocuments, { maxLength: 3 }).map((documents) => JSON.stringify(documents)),
)

/** A document, of which some bytes were changed, removed or added. */
const damaged: fc.Arbitrary<Uint8Array> = fc
  .tuple(
    texts,
    fc.array(fc.tuple(fc.nat(), fc.nat(255), fc.nat(2)), { maxLength: 4 }),
    fc.option(fc.nat(), { nil: undefined }),
  )
  .map(([text, changes, cut]) => {
    const bytes = [...bytesOf(text)]
    for (const [at, byte, kind] of changes)
      bytes.splice(at % (bytes.length + 1), kind === 0 ? 1 : kind - 1, ...(kind === 0 ? [] : [byte]))
    return Uint8Array.from(cut === undefined ? bytes : bytes.slice(0, cut % (bytes.length + 1)))
  })

describe('pieces of any size', () => {
  test('give the issues and violations of one piece, with a place in the source', async () => {
    const some = fc.oneof(damaged, fc.uint8Array({ maxLength: 60 }))
    await fc.assert(
      fc.asyncProperty(some, fc.constantFrom(...SIZES), async (bytes, size) => {
        const outcome = await readSource({ json: bytes })
        expect(await readSource({ json: piecesOf(bytes, size) })).toStrictEqual(outcome)
        expectPlaces(outcome, bytes)
      }),
      { numRuns: RUNS },
    )
  })

  test.each(SIZES)('of %i bytes give long texts with quotes and backslashes', async (size) => {
    const texts = Array.from({ length: 60 }, (_, n) => `${'"\\'.repeat(n)}${'x'.repeat(n)}${'\\'.repeat(n % 4)}`)
    const document = texts.map((content, number) => ({ ...fullIssue, number, content }))
    const { issues } = await readSource({ json: piecesOf(bytesOf(JSON.stringify(document)), size) })

    expect(issues).toStrictEqual(document)
  })
})

function expectPlaces({ violations }: Outcome, bytes: Uint8Array): void {
  for (const { offset = -1, line = -1 } of violations) {
    expect(offset).toBeGreaterThanOrEqual(0)
    expect(offset).toBeLessThanOrEqual(bytes.length)
    expect(line).toBeGreaterThanOrEqual(1)
    expect(line).toBeLessThanOrEqual(bytes.filter((byte) => byte === 10).length + 1)
  }
}
