import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { issueDocuments } from '../../../src/exchange/exchange.ts'
import { yamlOf } from '../../../src/exchange/yaml/write-yaml.ts'
import { allOf, anIssue } from '../../core/exchange/records.ts'

const issue = anIssue(1)
const json = JSON.stringify([issue])
const yaml = yamlOf([issue])

test.each([
  [json, 'application/json'],
  [json, 'application/json; charset=utf-8'],
  [json, 'application/x-ndjson'],
  [json, 'text/html'],
  [json, undefined],
  [gzipSync(json), 'application/json'],
  [yaml, 'application/yaml'],
  [yaml, 'application/x-yaml'],
  [yaml, 'text/yaml; charset=utf-8'],
  [yaml, 'TEXT/X-YAML'],
  [yaml, 'application/vnd.example.issues+yaml'],
  [[issue], 'application/json'],
  [[issue], 'application/yaml'],
])('a body is read: %#', async (body, contentType) => {
  expect(await allOf(issueDocuments.read(body, { contentType }))).toEqual([{ kind: 'issue', issue }])
})

test.each<readonly [what: string, value: unknown, pointer: string, code: string]>([
  ['an issue that is not valid', { ...issue, state: 'gone' }, '/1/state', 'choice'],
  ...[undefined, () => 1, null, 'text'].map((value) => [String(value), value, '/1', 'type'] as const),
])('%s in a list that was parsed before is a violation without a place', async (_what, value, pointer, code) => {
  const reading = allOf(issueDocuments.read([issue, value], { contentType: 'application/json' }))

  const error: unknown = await reading.catch((thrown: unknown) => thrown)
  expect(error).toHaveProperty('details', { violations: [{ pointer, code, message: expect.any(String) }], total: 1 })
})
