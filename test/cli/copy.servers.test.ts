import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openStandalone } from '../../app/standalone/standalone.ts'
import { MARIADB, newDatabase, onDatabases, POSTGRES } from '../databases.ts'
import { WORLD } from '../standalone/world.ts'
import { newFolder, runForgelet, startForgelet } from '../start-forgelet.ts'

const PATHS = [
  '/repos/acme/rocket/issues/pinned',
  '/repos/acme/rocket',
  '/repos/acme/vault/issues/pinned',
  '/orgs/acme/blocks',
  '/users/sam/badges',
  '/admin/users/sam/badges',
  '/admin/badges',
  '/user',
]

/** What a server on a database answers to who has no token, and to a site admin. */
async function answersOf(db: string): Promise<readonly string[]> {
  const server = await startForgelet(['--db', db])
  const answers: string[] = []
  for (const path of PATHS) {
    for (const headers of [{}, { authorization: 'token alice-token' }]) {
      const reply = await fetch(`${server.url}${path}`, { headers })
      const text = (await reply.text()).replaceAll(server.url.replace(/\/api.*/, ''), '')
      answers.push(`${path} ${reply.status} ${text.replaceAll(/"requestId":"[^"]*"/g, '')}`)
    }
  }
  await server.stop()
  return answers
}

/** The file of a server with a world. */
async function newFile(): Promise<string> {
  const file = join(await newFolder(), 'forge.sqlite')
  await (await openStandalone({ db: file, fixture: WORLD })).close()
  return file
}

onDatabases([POSTGRES, MARIADB], (_open, kind) => {
  test('a server answers from a copy, and from a copy of that, as from the source', { timeout: 60_000 }, async () => {
    const [file, there, back] = [await newFile(), (await newDatabase(kind)).url, `${await newFolder()}/back.sqlite`]
    const answers = await answersOf(file)
    expect(await runForgelet(['copy', '--from', file, '--to', there])).toMatchObject({ code: 0 })
    expect(await runForgelet(['copy', '--from', there, '--to', back])).toMatchObject({ code: 0 })

    expect(answers.some((answer) => answer.includes(' 200 ['))).toBe(true)
    expect(await answersOf(there)).toEqual(answers)
    expect(await answersOf(back)).toEqual(answers)
  })

  test('new users, repositories and tokens of a copy have new ids', async () => {
    const [file, there] = [await newFile(), (await newDatabase(kind)).url]
    await runForgelet(['copy', '--from', file, '--to', there])
    const made = async (db: string) => {
      for (const command of ['user create new', 'repo create new/own', 'token create new']) {
        expect(await runForgelet([...command.split(' '), '--db', db])).toMatchObject({ code: 0 })
      }
      const { code, out } = await runForgelet(['copy', '--from', db, '--to', `${await newFolder()}/x`, '--json'])
      expect(code).toBe(0)
      return JSON.parse(out).rows
    }

    expect(await made(there)).toEqual(await made(file))
  })
})
