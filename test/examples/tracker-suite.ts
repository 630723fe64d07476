import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Actor, Forge, IssueTracker, MaybePromise } from '../../src/index.ts'
import { createForge } from '../../src/index.ts'
import type { ForgeStorage } from '../../src/storage/storage.ts'
import type { BegunTransaction, TrackerHost } from '../../src/testing/testing.ts'
import { trackerContract } from '../../src/testing/testing.ts'

/** The users that a test inserts. */
export const USERS = "values (1, 'olga'), (2, 'mia')"

/** A database with the tables of an example. */
export interface ExampleDatabase<Handle, Tx> {
  /** What the tracker of the example is created with. */
  readonly handle: Handle
  readonly storage: ForgeStorage<Tx>
  /** A repository that no other test uses. */
  readonly repositoryId: number
  begin(): MaybePromise<BegunTransaction<Tx>>
  close(): MaybePromise<void>
}

/** What an example exports. */
interface Example<Handle, Tx> {
  createTracker(handle: Handle): IssueTracker<Actor, Tx>
  createIssue(
    transaction: Tx,
    issue: { repositoryId: number; title: string; posterId: number; name: string },
  ): MaybePromise<number>
}

interface OpenedHost<Tx> extends TrackerHost<Actor, Tx> {
  readonly forge: Forge<Actor, Tx>
  /** Creates an issue in a transaction that stays open. */
  createIssueIn(): Promise<{ readonly number: number; readonly transaction: BegunTransaction<Tx> }>
}

/** Returns the statements that create the tables of an example. */
export async function tablesOf(name: string): Promise<string> {
  const file: string = `../../examples/${name}`
  const example: { readonly TABLES: string } = await import(file)
  return example.TABLES
}

/** Checks that an example meets the requirements for a tracker. */
export function trackerSuite<Handle, Tx>(name: string, open: () => Promise<ExampleDatabase<Handle, Tx>>): void {
  for (const one of trackerContract(() => hostOn(name, open))) test(one.name, () => one.run())
}

/** Checks an example on a database with several connections. */
export function racingTrackerSuite<Handle, Tx>(name: string, open: () => Promise<ExampleDatabase<Handle, Tx>>): void {
  trackerSuite(name, open)

  describe('while a user creates an issue', () => {
    test('an import waits, and does not replace the issue', async () => {
      const host = await hostOn(name, open)
      const { number, transaction } = await host.createIssueIn()
      const imported = importOf(host, number)
      const ended = await Promise.race([imported.then(String, String), pause(500, 'waits')])
      await transaction.commit()
      await transaction.release?.()

      expect(ended).toBe('waits')
      await expect(imported).rejects.toThrow()
      await expect(importOf(host, number)).rejects.toMatchObject({ code: 'IMPORT_CONFLICT' })
      const titles: string[] = []
      for await (const { title } of host.forge.exchange.export('system', host.repositoryId)) titles.push(title)
      expect(titles).toEqual(['Read this first'])
      await host.close()
    })

    test('an import of other issues waits, and is done', async () => {
      const host = await hostOn(name, open)
      const { number, transaction } = await host.createIssueIn()
      const imported = importOf(host, number + 1)
      await pause(100)
      await transaction.commit()
      await transaction.release?.()

      expect(await imported).toMatchObject({ issues: { created: 1 } })
      expect(await host.createIssue()).toBe(number + 2)
      await host.close()
    })
  })
}

function importOf<Tx>({ forge, repositoryId }: OpenedHost<Tx>, number: number) {
  const person = { poster_id: 8, poster_name: 'mia' }
  const times = { created: '2024-01-02T03:04:05Z', updated: '2024-02-03T04:05:06Z' }
  const issue = {
    number,
    ...person,
    title: 'Imported',
    content: '',
    state: 'open',
    is_locked: false,
    ...times,
  } as const
  return forge.exchange.import('system', { repositoryId, records: [issue] }, { attribution: 'accounts' })
}

async function hostOn<Handle, Tx>(
  name: string,
  open: () => Promise<ExampleDatabase<Handle, Tx>>,
): Promise<OpenedHost<Tx>> {
  const file: string = `../../examples/${name}`
  const example: Example<Handle, Tx> = await import(file)
  const { handle, storage, repositoryId, begin, close } = await open()
  await storage.migrate()
  const tracker = example.createTracker(handle)
  const forge = createForge<Actor, Tx>({
    storage,
    policy: { authorize: () => ({ allow: true }) },
    membership: { isMember: () => false },
    issues: tracker,
    logger: false,
  })
  const createIssueIn = async () => {
    const transaction = await begin()
    const issue = { repositoryId, title: 'Read this first', posterId: 1, name: 'olga' }
    return { number: await example.createIssue(transaction.transaction, issue), transaction }
  }
  return {
    forge,
    tracker,
    repositoryId,
    users: [
      { id: '1', name: 'olga' },
      { id: '2', name: 'mia' },
    ],
    createIssueIn,
    async createIssue() {
      const { number, transaction } = await createIssueIn()
      await transaction.commit()
      await transaction.release?.()
      return number
    },
    async rolledBack(work) {
      const transaction = await begin()
      await work(transaction.transaction)
      await transaction.rollback()
      await transaction.release?.()
    },
    async close() {
      await forge.close()
      await close()
    },
  }
}
