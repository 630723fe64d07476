import { expect, test } from 'vitest'
import { warningsAbout } from '../../../../src/storage/sql/server/mariadb-rules.ts'
import { onMariadb } from '../../driver-hosts.ts'

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
