import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { ByteSource } from '../../../src/exchange/exchange.ts'
import { issueDocuments } from '../../../src/exchange/exchange.ts'
import type { ForgeError } from '../../../src/index.ts'

const issue = {
  number: 1,
  poster_id: 2,
  poster_name: 'ada',
  title: 'Crash',
  content: '',
  state: 'open' as const,
  is_locked: false,
  created: '2026-01-02T03:04:05Z',
  updated: '2026-01-02T03:04:05Z',
}
const json = JSON.stringify([issue])
const yaml = `- ${Object.entries(issue)
  .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
  .join('\n  ')}\n`

async function read(body: ByteSource | readonly unknown[], contentType: string | undefined): Promise<unknown> {
  return allOf(issueDocuments.read(body, { contentType }))
}

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
  expect(await read(body, contentType)).toEqual([{ kind: 'issue', issue }])
})

test('the violations of a list that was parsed before have pointers and no places', async () => {
  const failed = read([issue, { ...issue, state: 'gone' }], 'application/json')

  const { details } = (await failed.catch((error: unknown) => error)) as ForgeError<'INVALID_DOCUMENT'>
  expect(details).toEqual({
    violations: [{ pointer: '/1/state', code: 'choice', message: expect.any(String) }],
    total: 1,
  })
})

test.each([[[undefined]], [[() => 1]], [[null]], [['text']]])('%j is not a list of issues', async (body) => {
  await expect(read(body, undefined)).rejects.toThrow('the document is invalid: /0: expected an issue')
})

test('an empty list has no issues', async () => {
  expect(await read([], undefined)).toEqual([])
})

test('issues are written as the canonical document', async () => {
  const pieces = await allOf(issueDocuments.write(issuesOf()))

  expect(Buffer.concat(pieces).toString()).toBe(`[\n${JSON.stringify(issue)}\n]\n`)
})

async function* issuesOf(): AsyncGenerator<typeof issue, void, void> {
  yield issue
}

async function allOf<T>(source: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = []
  for await (const item of source) all.push(item)
  return all
}
