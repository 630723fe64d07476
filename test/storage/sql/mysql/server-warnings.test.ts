import { expect, test } from 'vitest'
import { warningsAbout } from '../../../../src/storage/sql/mysql/server-warnings.ts'
import { onMariadb } from './host-database.ts'

test.each([
  [{ flush: 1, log: 'no', sync: 0 }, []],
  [{ flush: 1, log: 'yes', sync: 1 }, []],
  [{ flush: 0, log: 'no', sync: 0 }, [/innodb_flush_log_at_trx_commit = 0/]],
  [{ flush: 2, log: 'yes', sync: 0 }, [/innodb_flush_log_at_trx_commit = 2/, /sync_binlog = 0/]],
] as const)('a server with %j is warned of', (settings, told) => {
  const warnings = warningsAbout(settings)

  expect(warnings).toHaveLength(told.length)
  for (const [index, text] of told.entries()) expect(warnings[index]).toMatch(text)
})

onMariadb((open) => {
  test('what a server has set is what is warned of', async () => {
    const database = await open()
    const [settings] = await database.run(
      "select cast(@@innodb_flush_log_at_trx_commit as double) as flush, if(@@log_bin, 'yes', 'no') as log, " +
        'cast(@@sync_binlog as double) as sync',
    )
    const { warnings } = await database.storage().schemaStatus()

    expect(warnings).toEqual(Reflect.apply(warningsAbout, undefined, [settings]))
  })
})
