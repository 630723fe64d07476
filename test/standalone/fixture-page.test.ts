import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseFixture } from '../../src/standalone/fixture.ts'

test('the example of the fixture page is a fixture', async () => {
  const page = await readFile(join(import.meta.dirname, '../../docs/fixture.md'), 'utf8')
  const [, example = ''] = /```json\n(.*?)```/s.exec(page) ?? []
  expect(parseFixture(JSON.parse(example))).toMatchObject({ badges: [{ slug: 'night-owl' }] })
})
