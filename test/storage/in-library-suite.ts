import { expect, onTestFinished, test } from 'vitest'
import { createForge } from '../../src/index.ts'
import type { HostTables, HostTransaction } from '../../src/storage/storage.ts'
import { inTransaction } from '../../src/storage/storage.ts'
import type { Person } from '../core/a-forge.ts'
import { olga } from '../core/a-forge.ts'
import type { ServerKind } from '../databases.ts'
import { newDatabase } from '../databases.ts'
import { meeting } from '../deferred.ts'

/** A library that is open on a database: how its transactions are wrapped, and what of it is none. */
export interface OpenedLibrary {
  wrap(transaction: never): HostTransaction
  readonly outside: unknown
  close(): Promise<unknown>
}

/** What `inTransaction` takes. */
export interface TakenLibrary extends OpenedLibrary {
  readonly library: unknown
  /** That of the storage with the same driver, for a pool. */
  inTransaction?(...given: never[]): Promise<unknown>
}

/** What begins a transaction by itself, for `withTransaction`. */
export interface BeginningLibrary extends OpenedLibrary {
  begin(work: (transaction: never) => Promise<unknown>): Promise<unknown>
}

/** Defines tests of `inTransaction`, or of `withTransaction`, with a library on a kind of server. */
export function inLibrary(
  kind: ServerKind,
  openLibrary: (url: string) => TakenLibrary | BeginningLibrary | Promise<TakenLibrary | BeginningLibrary>,
  { isTaken = true }: { readonly isTaken?: boolean } = {},
): void {
  const opened = async (tables?: HostTables) => {
    const database = await newDatabase(kind)
    await database.host.run('create table host_issue (id bigint primary key)')
    await database.host.run('create table host_task (id bigint primary key, repo_id bigint, title varchar(100))')
    const library = await openLibrary(database.url)
    onTestFinished(async () => void (await library.close()))
    const wrap = (transaction: unknown) => library.wrap(transaction as never) // each has a type of its own
    const forge = createForge<Person, HostTransaction, 'pins'>({
      services: ['pins'],
      storage: (await database.migrated({ tables })) as never, // of any transaction, also of a library
      policy: { authorize: () => ({ allow: true }) },
    })
    type Services = Parameters<Parameters<typeof forge.withTransaction>[1]>[0]
    type Work = (services: Services, run: (sql: string) => Promise<unknown>) => Promise<unknown>
    const inOwn = async (begin: BeginningLibrary['begin'], work: Work) => {
      let report = () => {}
      const value = await begin(async (transaction) => {
        const host = wrap(transaction)
        const done = await forge.withTransaction(host, (services) => work(services, (sql) => host.run(sql, [])))
        report = done.afterCommit
        return done.value
      })
      report()
      return value
    }
    const taking = (('inTransaction' in library && library.inTransaction) || inTransaction) as (
      ...given: unknown[] // each library has a signature of its own
    ) => Promise<unknown>
    return {
      forge,
      /** Whether COMMIT says that the server has rolled back. */
      isOfPg: kind.name === 'PostgreSQL' && taking !== inTransaction,
      inTransaction: (work: Work) =>
        'begin' in library
          ? inOwn(library.begin, work)
          : taking(forge, library.library, (services: Services, transaction: unknown) =>
              work(services, (sql) => wrap(transaction).run(sql, [])),
            ),
      outside: async () => forge.withTransaction(wrap(library.outside), (services) => pin(services, 1)),
      pinned: async (repositoryId = 10) =>
        (await forge.pins.list('system', { repositoryId, kind: 'issue' })).map(({ issueId }) => issueId),
      run: (sql: string) => database.host.run(sql),
      issues: async () => (await database.host.run('select id from host_issue')).map(({ id }) => Number(id)),
    }
  }
  const pin = (
    services: { readonly pins: { pin(...given: never[]): Promise<unknown> } },
    id: number,
    repositoryId = 10,
  ) => (services.pins.pin as (...given: unknown[]) => Promise<unknown>)(olga, { id, repositoryId, kind: 'issue' })

  test('texts in a condition of the host may look like placeholders', async () => {
    const where = "title <> 'it''s $1, or what?'"
    const issues = { table: 'host_task', repository: 'repo_id', number: 'id', where }
    const { inTransaction, pinned, run } = await opened({ issues })
    await run("insert into host_task (id, repo_id, title) values (1, 10, 'really')")
    await run("insert into host_task (id, repo_id, title) values (2, 10, 'it''s $1, or what?')")
    await inTransaction(async (services) => {
      await pin(services, 1)
      await expect(pin(services, 2)).rejects.toMatchObject({ code: 'ISSUE_NOT_FOUND' })
    })
    expect(await pinned()).toEqual(['1'])
  })

  test('what the forge and the library write is committed together, and then reported', async () => {
    const { forge, inTransaction, pinned, issues } = await opened()
    const seen: unknown[] = []
    forge.events.on(({ type }) => seen.push(type))
    const value = await inTransaction(async (services, run) => {
      await run('insert into host_issue values (1)')
      await pin(services, 1)
      return seen.length
    })

    expect([value, seen, await pinned(), await issues()]).toEqual([0, ['issue.pinned'], ['1'], [1]])
  })

  test('work that fails leaves nothing, and its error is that of the call', async () => {
    const { inTransaction, pinned, issues } = await opened()
    const failure = new Error('the host changed its mind')
    const failing = inTransaction(async (services, run) => {
      await run('insert into host_issue values (1)')
      await pin(services, 1)
      throw failure
    })

    await expect(failing).rejects.toBe(failure)
    expect([await pinned(), await issues()]).toEqual([[], []])
  })

  test('a refused call is taken back to its savepoint, calls at once take turns, and the rest is committed', async () => {
    const { inTransaction, pinned } = await opened()
    await inTransaction(async (services) => {
      await Promise.all([1, 2, 3].map((id) => pin(services, id)))
      await expect(pin(services, 4)).rejects.toMatchObject({ code: 'PIN_LIMIT_REACHED' })
    })

    expect((await pinned()).toSorted()).toEqual(['1', '2', '3'])
  })

  test('outside of a transaction the library is refused, and nothing is written', async () => {
    const { outside, pinned } = await opened()

    await expect(outside()).rejects.toThrow(TypeError)
    expect(await pinned()).toEqual([])
  })

  if (!isTaken) return

  test('a transaction that a deadlock gives up at a statement whose error the work caught is reported', async () => {
    const { forge, inTransaction, pinned, issues, isOfPg } = await opened()
    const seen: unknown[] = []
    forge.events.on(({ issueId }) => seen.push(issueId))
    const both = meeting(2)
    const careless = (first: number, second: number) =>
      inTransaction(async (services, run) => {
        await pin(services, first, 10 + first)
        await run(`insert into host_issue values (${first})`)
        await both()
        await run(`insert into host_issue values (${second})`).catch(() => undefined)
      })
    const outcomes = await Promise.allSettled([careless(1, 2), careless(2, 1)])
    const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))

    expect(reasons).toEqual([expect.any(TypeError)])
    expect(String(reasons)).toContain(isOfPg ? 'nothing is committed' : 'not all is committed')
    const kept = [...(await pinned(11)), ...(await pinned(12))]
    expect([seen, kept, (await issues()).toSorted()]).toEqual([[expect.any(String)], seen, [1, 2]])
  })

  test('what a deadlock gives up is run again, and both are committed', async () => {
    const { inTransaction, pinned } = await opened()
    const both = meeting(2)
    const transactions: Promise<unknown>[] = []
    let begun = 0
    const pinOn = (first: number, second: number, other: number) => {
      let isRepeated = false
      return inTransaction(async (services) => {
        begun += 1
        if (isRepeated) await transactions[other] // it must not overtake the one that it has made way for
        isRepeated = true
        await pin(services, first, first)
        await both()
        await pin(services, second, second)
      })
    }
    transactions.push(pinOn(11, 12, 1))
    transactions.push(pinOn(12, 11, 0))
    await Promise.all(transactions)

    expect(begun).toBe(3)
    for (const repositoryId of [11, 12]) expect(await pinned(repositoryId)).toHaveLength(1)
  })
}
