// A service call on SQLite against its statement alone, in this process.
import { deepStrictEqual } from 'node:assert'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { sqliteStorage } from 'forgelet/storage/sqlite'
import { callSide, compare, inFolder, interleave, sqliteCalls } from './harness.mjs'
import { BLOCKED, fill, ORGANIZATION, openForge } from './http-server.mjs'

/** Measures `blocks.find`. */
export function measure({ slices }) {
  return inFolder(async (folder) => {
    const file = join(folder, 'bench.sqlite')
    const storage = sqliteStorage(file)
    await storage.migrate()
    const forge = openForge(storage)
    await fill(forge)
    const find = (n) => forge.blocks.find('system', { organizationId: ORGANIZATION, userId: n % BLOCKED })
    const [{ sql }] = await sqliteCalls(() => find(7))
    const statement = new Database(file, { readonly: true }).prepare(sql)
    const findByHand = (n) => statement.get(ORGANIZATION, n % BLOCKED)
    const { note, blockedBy } = await find(7)
    deepStrictEqual({ note, blockedBy }, { note: findByHand(7).note, blockedBy: findByHand(7).blockedBy })

    const options = { count: 5000, warmUp: 50_000 }
    const sides = { forgelet: callSide(find, options), 'by hand': callSide(findByHand, options) }
    const row = {
      work: '`blocks.find` as a service call, SQLite',
      floor: 'its statement alone',
      of: ['forgelet', 'by hand'],
      reach: '>= 0.65',
    }
    return [compare(await interleave(sides, { slices }), row)]
  })
}
