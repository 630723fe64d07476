import { expect, onTestFinished, test } from 'vitest'
import { runCommand, startServe } from './command.ts'

const WORLD = 'world.json'

/** The fixture that the cases need. */
export const TOKEN_WORLD: object = {
  users: [{ username: 'alice', siteAdmin: true, tokens: ['alice-token'] }, { username: 'sam' }],
  organizations: [{ name: 'acme', owners: ['alice'] }],
}

/** Where a test runs its commands, on a database of its own. */
export interface TokenPlace {
  readonly folder: string
  readonly db: string
}

/** The cases of `forgelet token` with real processes, on one kind of database. */
export function tokenSuite(newPlace: () => Promise<TokenPlace>): void {
  async function place() {
    const { folder, db } = await newPlace()
    return {
      run: (...args: readonly string[]) => runCommand(folder, [...args, '--db', db]),
      async serve() {
        const running = await startServe(folder, ['--db', db, '--fixture', WORLD])
        onTestFinished(async () => void (await running.stop('SIGKILL')))
        return async (token: string): Promise<number> => {
          const headers = { authorization: `token ${token}` }
          return (await fetch(`${running.url}/admin/users/sam/badges`, { headers })).status
        }
      },
    }
  }

  test('a token works at once and is refused at once when it is revoked, in every process', async () => {
    const { run, serve } = await place()
    const servers = [await serve(), await serve()]
    const statuses = (token: string) => Promise.all(servers.map((status) => status(token)))

    const created = await run('token', 'create', 'ALICE', '--name', 'the build')
    const token = created.out.trim()
    expect([created.code, token]).toEqual([0, expect.stringMatching(/^[0-9a-f]{40}$/)])
    expect(await statuses(token)).toEqual([200, 200])

    const [, id = ''] = /the token ([0-9a-f]{12}) of ALICE; it cannot be shown again\n$/.exec(created.err) ?? []
    const list = await run('token', 'list', 'alice')
    expect(list.out).toMatch(
      new RegExp(`^[0-9a-f]{12}  from a fixture\\n${id}  \\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ  the build\\n$`),
    )
    expect(list.out).not.toContain(token)

    expect(await run('token', 'revoke', 'alice', id)).toMatchObject({ code: 0, out: '' })
    expect(await statuses(token)).toEqual([401, 401])
    expect(await statuses('alice-token')).toEqual([200, 200])
  })

  test('a token of a fixture can be revoked', async () => {
    const { run, serve } = await place()
    const status = await serve()
    const { tokens } = JSON.parse((await run('token', 'list', 'alice', '--json')).out)
    expect(tokens).toEqual([{ id: expect.any(String), name: null, createdAt: null }])
    expect(JSON.parse((await run('token', 'revoke', 'alice', tokens[0].id, '--json')).out)).toEqual({
      revoked: tokens[0].id,
    })
    expect(await status('alice-token')).toBe(401)
  })

  test('an unknown user, an organization and an unknown token are refused', async () => {
    const { run, serve } = await place()
    const status = await serve()
    for (const name of ['no-one', 'acme']) {
      expect(await run('token', 'create', name)).toMatchObject({
        code: 1,
        err: expect.stringContaining(`user ${name}`),
      })
    }
    const { token } = JSON.parse((await run('token', 'create', 'alice', '--json')).out)
    const { tokens } = JSON.parse((await run('token', 'list', 'alice', '--json')).out)
    const { code, err } = await run('token', 'revoke', 'sam', tokens[1].id)
    expect([code, err]).toEqual([1, expect.stringContaining(`sam has no token ${tokens[1].id}`)])
    expect(await status(token)).toBe(200)
  })

  test('a database without tables is refused, and stays empty', async () => {
    const { run } = await place()
    for (const args of [
      ['create', 'alice'],
      ['list', 'alice'],
      ['revoke', 'alice', 'x'],
    ]) {
      expect(await run('token', ...args)).toMatchObject({ code: 3, out: '' })
    }
    expect(await run('doctor')).not.toMatchObject({ code: 0 })
  })
}
