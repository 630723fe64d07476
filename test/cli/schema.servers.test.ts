import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { onServer, SERVERS } from '../storage/databases/servers.ts'
import { newDatabase, POSTGRES, SERVER_KINDS } from '../storage/sql/server/server-databases.ts'
import { runCommand, startCommand } from './command.ts'

// Real child processes of dist/cli.js.

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'forgelet-schema-'))
})

afterAll(() => rmSync(folder, { recursive: true }))

const schema = (...args: readonly string[]) => runCommand(folder, ['schema', ...args])

for (const kind of SERVER_KINDS) {
  onServer(kind.server, (url) => {
    test('forgelet schema creates the tables, and reports their state', async () => {
      const database = await newDatabase(kind, url)

      expect(await schema('status', '--db', database.url)).toMatchObject({ code: 1, out: 'empty\n' })
      expect(await schema('apply', '--db', database.url)).toMatchObject({ code: 0, out: 'current\n' })
      await database.run('drop view forgelet_pins')
      expect(await schema('status', '--db', database.url)).toMatchObject({ code: 1, out: 'drifted\n' })
    })
  })
}

onServer(SERVERS.postgres, (url) => {
  test('forgelet schema reports with exit code 1 that committed data may be lost', async () => {
    const database = await newDatabase(POSTGRES, url)
    await schema('apply', '--db', database.url)
    await database.run(`alter database ${new URL(database.url).pathname.slice(1)} set synchronous_commit = off`)
    const { code, out } = await schema('status', '--db', database.url)

    expect([code, out]).toEqual([1, expect.stringMatching(/^current\nwarning: [^\n]*synchronous_commit/)])
  })

  test('forgelet schema stops on a signal while it waits for another migration', async () => {
    const database = await newDatabase(POSTGRES, url)
    const other = await database.connect()
    await other.run(
      POSTGRES.dialect.schemaChanges?.lock({ schema: undefined, prefix: 'forgelet_' }).sql.replace('$1', 'null') ?? '',
    )
    const running = startCommand(folder, ['schema', 'apply', '--db', database.url])
    await running.says('updating it')

    expect(await running.stop('SIGINT')).toMatchObject({
      code: 3,
      err: expect.stringContaining('stopped before the end'),
    })
    expect(await database.run("select 1 as x from pg_class where relname = 'forgelet_ledger'")).toEqual([])
  })
})
