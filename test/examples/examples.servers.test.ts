import { describe, expect, test } from 'vitest'
import { onDatabases, POSTGRES } from '../databases.ts'
import { pinNewIssueCases } from './pin-new-issue-cases.ts'
import { startOnDatabase } from './running-example.ts'

const BLOCK = '/api/v1/orgs/acme/blocks/mia'

onDatabases([POSTGRES], (_open, kind) => {
  describe('examples/pin-new-issue-postgres.mjs', () => pinNewIssueCases('pin-new-issue-postgres.mjs', kind))

  describe('examples/drop-watches-postgres.mjs', () => {
    const start = async () => {
      const { ask, refuse } = await startOnDatabase('drop-watches-postgres.mjs', kind)
      /** The watches, as `user organization`. */
      async function watches(): Promise<readonly string[]> {
        const { body } = await ask('GET', '/watches')
        if (!Array.isArray(body)) throw new TypeError('the watches are not a list')
        return body.map(({ user_id, organization_id }) => `${user_id} ${organization_id}`)
      }
      return { ask, refuse, watches }
    }

    test('who is blocked through the route loses the watches there, and no others are lost', async () => {
      const { ask, watches } = await start()
      expect(await ask('PUT', BLOCK, { as: 'anonymous' })).toMatchObject({ status: 401 })
      expect(await watches()).toEqual(['2 20', '2 21', '3 20'])

      expect(await ask('PUT', BLOCK)).toEqual({ status: 204, body: undefined })
      expect(await watches()).toEqual(['2 21', '3 20'])
      expect(await ask('GET', BLOCK)).toEqual({ status: 204, body: undefined })
    })

    test.each([
      ['a watch that cannot be dropped keeps the block from being made', 'trigger refuse before delete on watch'],
      [
        'a block that cannot be committed drops no watch',
        'constraint trigger refuse after insert on forgelet_events deferrable initially deferred',
      ],
    ])('%s', async (_fact, trigger) => {
      const { ask, refuse, watches } = await start()
      await refuse(trigger)

      expect(await ask('PUT', BLOCK)).toMatchObject({ status: 500, body: { code: 'INTERNAL' } })
      expect(await watches()).toEqual(['2 20', '2 21', '3 20'])
      expect(await ask('GET', BLOCK)).toMatchObject({ status: 404, body: { code: 'NOT_BLOCKED' } })
    })
  })
})
