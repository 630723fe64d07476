import { expect, test } from 'vitest'
import type { DatabaseKind } from '../databases.ts'
import { startOnDatabase } from './running-example.ts'

/** The tests of an example that creates an issue and pins it, on databases of one kind. */
export function pinNewIssueCases<Tx>(name: string, kind: DatabaseKind<Tx>): void {
  const start = async () => {
    const { ask, lines, refuse } = await startOnDatabase(name, kind)
    const create = (title: string) => ask('POST', '/issues', { body: { title } })
    const found = async () => (await ask('GET', '/issues')).body
    return { ask, lines, refuse, create, found }
  }

  test('an issue is created and pinned, and then reported', async () => {
    const { create, found, lines } = await start()

    expect(await create('first')).toEqual({ status: 201, body: { id: '1', position: 1 } })
    expect(await found()).toEqual([{ id: '1', title: 'first', position: 1 }])
    await expect.poll(lines).toEqual(['issue.pinned 1'])
  })

  test('who may not pin does not create', async () => {
    const { ask, found } = await start()
    const answer = await ask('POST', '/issues', { body: { title: 'first' }, as: 'anonymous' })

    expect(answer).toEqual({ status: 401, body: { code: 'UNAUTHENTICATED' } })
    expect(await found()).toEqual([])
  })

  test('a write of the host that fails after the pin leaves neither, and emits nothing', async () => {
    const { create, found, lines, refuse } = await start()
    await create('first')
    await refuse('trigger refuse before insert on activity')

    expect(await create('second')).toEqual({ status: 500, body: { code: 'INTERNAL' } })
    expect(await found()).toMatchObject([{ title: 'first', position: 1 }])
    await expect.poll(lines).toEqual(['issue.pinned 1'])
  })

  test('of twelve at once as many are pinned as the limit allows, and only those are created', async () => {
    const { create, found } = await start()
    const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => create(`issue ${n}`)))
    const refused = { status: 400, body: { code: 'PIN_LIMIT_REACHED' } }

    expect(answers.filter(({ status }) => status !== 201)).toEqual(Array(9).fill(refused))
    const issues = await found()
    expect(Array.isArray(issues) && issues.map(({ position }) => position).sort()).toEqual([1, 2, 3])
  })
}
