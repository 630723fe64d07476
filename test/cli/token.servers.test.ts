import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { onServer } from '../storage/databases/servers.ts'
import { MARIADB, newDatabase, POSTGRES, SERVER_KINDS } from '../storage/sql/server/server-databases.ts'
import { runCommand, startServe } from './command.ts'
import { answering } from './proxy.ts'
import { TOKEN_WORLD, tokenSuite } from './token-suite.ts'

// Real child processes of dist/cli.js.

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'forgelet-token-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'world.json'), JSON.stringify(TOKEN_WORLD))
  return folder
}

for (const kind of SERVER_KINDS) {
  onServer(kind.server, (server) => {
    tokenSuite(async () => ({ folder: await newFolder(), db: (await newDatabase(kind, server)).url }))

    test('the doctor finds what is missing, and leaves it', async () => {
      const folder = await newFolder()
      const { url, ...database } = await newServed(folder)
      expect(await runCommand(folder, ['doctor', '--db', url])).toMatchObject({ code: 0 })
      await database.run('alter table host_tokens drop column name')
      const { code, out } = await runCommand(folder, ['doctor', '--db', url])
      expect([code, out]).toEqual([1, expect.stringMatching(/^tables of the server +drifted +a table, view, column/m)])
      expect(out).toMatch(/^clock +\S.* +-$/m)
      expect(out).toMatch(/^connections +\d+ open, \d+ free of \d+; a process takes up to 10 +-$/m)
    })

    test('the doctor reports a pool that does not fit', async () => {
      const folder = await newFolder()
      const { url } = await newServed(folder)
      const parameter = kind === MARIADB ? 'connectionLimit' : 'max'
      const { code, out } = await runCommand(folder, ['doctor', '--db', `${url}?${parameter}=900`])
      expect([code, out]).toEqual([
        1,
        expect.stringMatching(
          new RegExp(`^connections .* up to 900 +another process does not fit: .*${parameter}`, 'm'),
        ),
      ])
    })

    test('the doctor cannot reach a server that refuses connections', async () => {
      const { url } = await newDatabase(kind, server)
      const away = Object.assign(new URL(await answering(url, Buffer.alloc(0))), { password: 'secret' }).href
      const { code, out, err } = await runCommand(await newFolder(), ['doctor', '--db', away])
      expect([code, out, err]).toEqual([
        3,
        '',
        expect.stringMatching(/^forgelet: database .* cannot be used: [^\n]+\n$/),
      ])
      expect(err).not.toContain('secret')
    })

    async function newServed(folder: string) {
      const made = await newDatabase(kind, server)
      await (await startServe(folder, ['--db', made.url])).stop()
      return { url: made.url, run: (sql: string) => made.run(sql) }
    }
  })
}

onServer(POSTGRES.server, (server) => {
  test('the doctor reports a role whose commits are not durable', async () => {
    const folder = await newFolder()
    const made = await newDatabase(POSTGRES, server)
    await (await startServe(folder, ['--db', made.url])).stop()
    await made.run(`alter database ${new URL(made.url).pathname.slice(1)} set synchronous_commit = off`)
    const { code, out } = await runCommand(folder, ['doctor', '--db', made.url, '--json'])
    expect(code).toBe(1)
    expect(JSON.parse(out).findings).toContainEqual({
      check: 'synchronous_commit',
      found: 'off',
      advice: expect.stringContaining('set synchronous_commit = on'),
    })
  })
})
