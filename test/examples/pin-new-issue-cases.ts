import { expect, test } from 'vitest'
import type { HostDatabase } from './host-databases.ts'
import { onExample } from './on-example.ts'
import type { RunningExample } from './running-example.ts'

/** The tests of an example that creates an issue and pins it, on databases of one kind. */
export function pinNewIssueCases(name: string, makeDatabase: () => Promise<HostDatabase>): void {
  const bench = onExample(name, makeDatabase)

  test('an issue is created and pinned, and then reported', async () => {
    const { example } = bench()

    expect(await create(example, 'first')).toEqual({ status: 201, body: { id: '1', position: 1 } })
    expect(await found(example)).toEqual([{ id: '1', title: 'first', position: 1 }])
    await expect.poll(() => example.said).toEqual(['issue.pinned 1'])
  })

  test('an issue that cannot be pinned is not created', async () => {
    const { example } = bench()
    for (const title of ['first', 'second', 'third']) await create(example, title)

    expect(await create(example, 'fourth')).toEqual({ status: 400, body: { code: 'PIN_LIMIT_REACHED' } })
    expect(await found(example)).toMatchObject([{ title: 'first' }, { title: 'second' }, { title: 'third' }])
  })

  test('who may not pin does not create', async () => {
    const { example } = bench()
    const answer = await example.ask('POST', '/issues', { body: { title: 'first' }, as: 'anonymous' })

    expect(answer).toEqual({ status: 401, body: { code: 'UNAUTHENTICATED' } })
    expect(await found(example)).toEqual([])
  })

  test('a write of the host that fails after the pin leaves neither, and emits nothing', async () => {
    const { database, example } = bench()
    await create(example, 'first')
    await database.refuse('insert', 'activity')

    expect(await create(example, 'second')).toEqual({ status: 500, body: { code: 'INTERNAL' } })
    expect(await found(example)).toMatchObject([{ title: 'first', position: 1 }])
    await expect.poll(() => example.said).toEqual(['issue.pinned 1'])
  })

  test('of twelve at once as many are pinned as the limit allows, and only those are created', async () => {
    const { example } = bench()
    const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => create(example, `issue ${n}`)))

    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, ...Array(9).fill(400)])
    const issues = await found(example)
    expect(Array.isArray(issues) && issues.map(({ position }) => position).sort()).toEqual([1, 2, 3])
  })
}

function create(example: RunningExample, title: string): ReturnType<RunningExample['ask']> {
  return example.ask('POST', '/issues', { body: { title } })
}

async function found(example: RunningExample): Promise<unknown> {
  return (await example.ask('GET', '/issues')).body
}
