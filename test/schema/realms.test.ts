import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { readIssues } from '../../src/exchange/exchange.ts'
import { parsedStream } from '../../src/http-adapters/routes/body.ts'
import { createForge } from '../../src/index.ts'
import { openpgpKey } from '../../src/signing-keys/signing-keys.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import { translate } from '../../src/storage/sql/servers/errors.ts'
import { isOccupied } from '../../src/storage/sql/sqlite/connection.ts'

/** Evaluates an expression in another realm. */
function foreign<T = unknown>(expression: string): T {
  return runInNewContext(expression)
}

const BYTES = 'Uint8Array.from([91, 93])' // []

test('a Date of another realm is a time', async () => {
  const at = foreign<Date>('new Date(1000)')
  const policy = { authorize: () => ({ allow: true }) as const }
  const forge = createForge({ services: ['pins'], storage: memoryStorage(), policy, clock: { now: () => at } })
  await forge.pins.pin({ id: 1 }, { id: 7, repositoryId: 10, kind: 'issue' })

  expect(await forge.events.prune({ before: at })).toBe(0)
  await expect(forge.events.prune({ before: foreign<Date>('new Date(NaN)') })).rejects.toThrow('a valid Date')
})

test('a Uint8Array of another realm is bytes', async () => {
  const read = []
  for await (const issue of readIssues({ json: foreign<Uint8Array>(BYTES) })) read.push(issue)
  for await (const bytes of parsedStream(foreign(BYTES), 100) ?? []) read.push(String(bytes))

  expect(read).toEqual(['91,93'])
  expect(openpgpKey(foreign<Uint8Array>(BYTES)).format).toBe('openpgp')
})

test('an error of another realm is an error', () => {
  expect(translate(foreign('Object.assign(new Error(), { code: "ECONNRESET" })'), 'call')).toMatchObject({
    code: 'STORAGE_UNAVAILABLE',
  })
  expect(translate(foreign('new TypeError("no")'), 'call')).toMatchObject({ message: 'no' })
  expect(isOccupied(foreign('new TypeError("This database connection is busy executing a query")'))).toBe(true)
})
