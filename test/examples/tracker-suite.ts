import { test } from 'vitest'
import type { BegunTransaction, TrackerHost } from '../../app/testing/testing.ts'
import { trackerContract } from '../../app/testing/testing.ts'
import type { Actor, Forge, IssueTracker, MaybePromise } from '../../src/index.ts'
import { createForge } from '../../src/index.ts'
import type { ForgeStorage } from '../../src/storage/storage.ts'

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
  readonly TABLES: string
  createTracker(handle: Handle): IssueTracker<Actor, Tx>
  createIssue(
    transaction: Tx,
    issue: { repositoryId: number; title: string; posterId: number; name: string },
  ): MaybePromise<number>
}

/** An example over a database. */
export interface ExampleHost<Tx> extends TrackerHost<Actor, Tx> {
  readonly forge: Forge<Actor, Tx>
  /** Creates an issue in a transaction that stays open. */
  createIssueIn(): Promise<{ readonly number: number; readonly transaction: BegunTransaction<Tx> }>
}

function load<Handle, Tx>(name: string): Promise<Example<Handle, Tx>> {
  const file: string = `../../examples/${name}`
  return import(file)
}

/** Returns the statements that create the tables of an example. */
export async function tablesOf(name: string): Promise<string> {
  return (await load(name)).TABLES
}

/** Checks that an example meets the requirements for a tracker. */
export function trackerSuite<Handle, Tx>(name: string, open: () => Promise<ExampleDatabase<Handle, Tx>>): void {
  for (const one of trackerContract(() => hostOn(name, open))) test(one.name, () => one.run())
}

/** Opens a host with the tracker of an example. */
export async function hostOn<Handle, Tx>(
  name: string,
  open: () => Promise<ExampleDatabase<Handle, Tx>>,
): Promise<ExampleHost<Tx>> {
  const example = await load<Handle, Tx>(name)
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
      return number
    },
    async rolledBack(work) {
      const transaction = await begin()
      await work(transaction.transaction)
      await transaction.rollback()
    },
    async close() {
      await forge.close()
      await close()
    },
  }
}
