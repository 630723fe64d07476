import type { Connection } from 'mysql2/promise'
import { expect, test } from 'vitest'
import { withSubject } from '../../../../src/core/with-subject.ts'
import type { HostDatabase } from './host-database.ts'
import { onMariadb } from './host-database.ts'

const IMPORTED = withSubject(
  { repositoryId: '10' },
  { type: 'issues.imported', data: { created: 1, updated: 0, comments: 0 } },
)

async function contents(database: HostDatabase): Promise<unknown> {
  const rows: unknown[] = []
  for (const table of ['forgelet_heads', 'forgelet_events', 'written']) {
    rows.push(await database.run(`select * from ${table}`))
  }
  return rows
}

onMariadb((open) => {
  test('a statement of prepare that is not awaited and ends the transaction: nothing is stored behind it', async () => {
    const database = await open()
    await database.run('create table written (id int)')
    const before = await contents(database)
    const called: string[] = []
    let transaction: Connection | undefined
    const changing = database.storage(database.pool()).issueImports.update<undefined, undefined>(
      { repositoryId: '10' },
      {
        expectedEpoch: undefined,
        prepare: (_state, open) => {
          transaction = open
          return undefined
        },
        decide: (state: undefined) => {
          transaction?.query('rollback').catch(() => undefined) // runs behind prepare, and before the change is written
          return { state, events: [IMPORTED], result: undefined }
        },
        by: { actorId: '1', at: () => new Date() },
        async beforeCommit(_events, open) {
          called.push('beforeCommit')
          await open.query('insert into written (id) values (1)')
        },
      },
    )

    await expect(changing).rejects.toThrow(TypeError)
    await expect(changing).rejects.toThrow('must wait for their statements')
    expect([await contents(database), called]).toEqual([before, []])
  })
})
