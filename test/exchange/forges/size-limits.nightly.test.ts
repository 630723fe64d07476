import { expect, test } from 'vitest'
import { readSource } from '../reading.ts'
import { bitbucketTracker } from './samples.ts'

const MEBIBYTE = 1024 * 1024
const { issues, ...others } = bitbucketTracker
const [issue] = JSON.parse(JSON.stringify(issues))

/** A tracker with one issue after the other, whose texts have so many MiB in all. */
function* tracker(size: number): Generator<Uint8Array, void, void> {
  const encoder = new TextEncoder()
  const content = 'x'.repeat(MEBIBYTE)
  yield encoder.encode(`${JSON.stringify(others).slice(0, -1)},"issues":[`)
  for (let id = 10; id < 10 + size; id += 1) {
    yield encoder.encode(`${id > 10 ? ',' : ''}${JSON.stringify({ ...issue, id, content })}`)
  }
  yield encoder.encode(']}')
}

test('a tracker of Bitbucket is read whole up to 256 MiB, and refused beyond', { timeout: 300_000 }, async () => {
  const outcome = await readSource({ json: () => tracker(250) })
  expect([outcome.issues.length, outcome.violations]).toEqual([250, []])

  const refused = await readSource({ json: () => tracker(257) })
  const message = 'expected at most 268435456 bytes in one record'
  expect(refused.violations).toEqual([{ pointer: '/0', code: 'too_large', message, offset: 0, line: 1 }])
  expect(refused.records).toEqual([])
})

test('a record in a list has at most 64 MiB, and an object what the option says', { timeout: 300_000 }, async () => {
  const inList = function* () {
    yield new TextEncoder().encode('[')
    yield* tracker(65)
  }
  const { violations } = await readSource({ json: inList })
  expect(violations).toMatchObject([{ code: 'too_large', message: 'expected at most 67108864 bytes in one record' }])
  const limits = { maxRecordBytes: 1000 }
  expect((await readSource({ json: () => tracker(1) }, { limits })).violations).toMatchObject([{ code: 'too_large' }])
})
