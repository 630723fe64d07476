import { expect, test } from 'vitest'
import type { HostDatabase } from './host-databases.ts'
import { onExample } from './on-example.ts'
import type { RunningExample } from './running-example.ts'

const BLOCK = '/api/v1/orgs/acme/blocks/mia'

/** The tests of an example that drops the watches of whom it blocks, on databases of one kind. */
export function dropWatchesCases(name: string, makeDatabase: () => Promise<HostDatabase>): void {
  const bench = onExample(name, makeDatabase)

  test('who is blocked through the route loses the watches there, and no others are lost', async () => {
    const { example } = bench()
    expect(await watches(example)).toEqual(['2 20', '2 21', '3 20'])

    expect(await example.ask('PUT', BLOCK)).toEqual({ status: 204, body: undefined })
    expect(await watches(example)).toEqual(['2 21', '3 20'])
    expect(await example.ask('GET', BLOCK)).toEqual({ status: 204, body: undefined })
  })

  test('a watch that cannot be dropped keeps the block from being made', async () => {
    const { database, example } = bench()
    await database.refuse('delete', 'watch')

    expect(await example.ask('PUT', BLOCK)).toMatchObject({ status: 500, body: { code: 'INTERNAL' } })
    expect(await watches(example)).toEqual(['2 20', '2 21', '3 20'])
    expect(await example.ask('GET', BLOCK)).toMatchObject({ status: 404, body: { code: 'NOT_BLOCKED' } })
  })

  test('who may not block drops nothing', async () => {
    const { example } = bench()

    expect(await example.ask('PUT', BLOCK, { as: 'anonymous' })).toMatchObject({ status: 401 })
    expect(await watches(example)).toEqual(['2 20', '2 21', '3 20'])
  })

  test('a block that cannot be committed drops no watch', async () => {
    const { database, example } = bench()
    await database.refuseCommit('forgelet_events')

    expect(await example.ask('PUT', BLOCK)).toMatchObject({ status: 500, body: { code: 'INTERNAL' } })
    expect(await watches(example)).toEqual(['2 20', '2 21', '3 20'])
    expect(await example.ask('GET', BLOCK)).toMatchObject({ status: 404, body: { code: 'NOT_BLOCKED' } })
  })
}

/** The watches, as `user organization`. */
async function watches(example: RunningExample): Promise<readonly string[]> {
  const { body } = await example.ask('GET', '/watches')
  if (!Array.isArray(body)) throw new TypeError('the watches are not a list')
  return body.map(({ user_id, organization_id }) => `${user_id} ${organization_id}`)
}
