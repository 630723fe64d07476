import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openStandalone } from '../../app/standalone/standalone.ts'
import { sqliteStorage } from '../../src/storage/sqlite.ts'
import { BOARD, pin } from '../../src/testing/storage-contract/samples/pin-boards.ts'
import { newFolder, runForgelet } from '../start-forgelet.ts'
import { WORLD as fixture } from './small-world.ts'

/** A folder with the file of a server, in which the command runs. */
async function newPlace() {
  const folder = await newFolder()
  await (await openStandalone({ db: join(folder, 'forgelet.sqlite'), fixture })).close()
  return {
    folder,
    run: (args: readonly string[], options: Parameters<typeof runForgelet>[1] = {}) =>
      runForgelet(args, { folder, ...options }),
  }
}

describe('forgelet copy', () => {
  test('says how many rows each table has, and shows how far it is', async () => {
    const { run } = await newPlace()
    const shown: string[] = []
    const copied = await run(['copy', '--to', 'new.sqlite'], { showStatus: (line) => shown.push(line) })

    expect(copied).toMatchObject({ code: 0, err: '' })
    expect(copied.out).toMatch(
      /^accounts: 3\n(.*\n)*issues: 3\n(.*\n)*events: 4\nconsumers: 0\ncopied to new.sqlite\n$/,
    )
    expect(shown.at(-2)).toMatch(/^copying \[#{20}\] 100 % {2}21 rows {2}.* MB\/s {2}0 s left$/)
    expect(shown.at(-1)).toBe('')
    expect(await run(['doctor', '--db', 'new.sqlite'])).toMatchObject({ code: 0 })
  })

  test('prints one line of JSON, and takes both databases from the environment', async () => {
    const { run } = await newPlace()
    const environment = { FORGELET_DB: 'forgelet.sqlite', FORGELET_TO: 'new.sqlite' }
    const { code, out } = await run(['copy', '--json'], { environment })

    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      from: 'forgelet.sqlite',
      to: 'new.sqlite',
      rows: { accounts: 3, issues: 3, board_pins: 1, events: 4 },
      renumberedEvents: 0,
    })
  })

  test('refuses a target that has rows, or that a copy has left which was stopped', async () => {
    const { run } = await newPlace()
    const stop = new AbortController()
    const showStatus = (): void => stop.abort(new Error('stopped'))
    const stopped = await run(['copy', '--to', 'new.sqlite'], { stop: stop.signal, showStatus })
    expect(stopped).toMatchObject({ code: 3, err: expect.stringContaining('copy again with --empty') })

    const unfinished = expect.stringContaining('a copy into it has not ended')
    expect(await run(['copy', '--to', 'new.sqlite'])).toMatchObject({ code: 3, err: unfinished })
    expect(await run(['serve', '--port', '0', '--db', 'new.sqlite'])).toMatchObject({ code: 3, err: unfinished })
    expect(await run(['token', 'list', 'alice', '--db', 'new.sqlite'])).toMatchObject({ code: 3, err: unfinished })
    expect(await run(['doctor', '--db', 'new.sqlite'])).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^tables of the forge: {2}incomplete: a copy into them has not ended/),
    })

    expect(await run(['copy', '--to', 'new.sqlite', '--empty'])).toMatchObject({ code: 0 })
    expect(await run(['copy', '--to', 'new.sqlite', '--empty'])).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^forgelet: the target is not empty: it has rows \(3 in host_accounts, /),
    })
  })

  test('copies the forge of an application without tables of a server', async () => {
    const { folder, run } = await newPlace()
    const storage = sqliteStorage(join(folder, 'app.sqlite'), { prefix: 'app_', ids: { issue: 'text' } })
    await storage.migrate()
    await pin(storage, BOARD, 'seven')
    await storage.close()
    const from = ['copy', '--from', 'app.sqlite', '--from-prefix', 'app_', '--to', 'new.sqlite']
    expect(await run(from)).toMatchObject({ code: 2, err: expect.stringContaining('--ids') })
    expect(await run([...from, '--ids', 'issue=text'])).toMatchObject({ code: 0 })

    const { out } = await run(['doctor', '--db', 'new.sqlite', '--ids', 'issue=text'])
    expect(out).toContain('none: it is the forge of an application')
  })
})
