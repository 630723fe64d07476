import type { Transaction } from 'kysely'
import { sql } from 'kysely'
import type { TestContext } from 'vitest'
import { describe, expect, test } from 'vitest'
import { issuesOn } from '../../../../src/testing/storage-contract/cases/contents.ts'
import { BOARD, pin } from '../../../../src/testing/storage-contract/cases/sample-changes.ts'
import { onServer } from '../../databases/servers.ts'
import { newDatabase, SERVER_KINDS } from './server-databases.ts'
import type { HostTransaction, OpenUse } from './storage-uses.ts'
import { storageUses } from './storage-uses.ts'

for (const kind of SERVER_KINDS) {
  onServer(kind.server, (server) => {
    describe('a beforeCommit that goes on when its call in a host’s transaction is interrupted', () => {
      test('leaves nothing in the transaction, and the next call waits for it', async (context) => {
        await onEach(context, async ({ storage, notes }, { transaction, commit }) => {
          const outlived = await interruptedPin(storage, transaction)
          let isMade = false
          const next = pin(storage, BOARD, '2', { transaction }).then(() => {
            isMade = true
          })
          await run(transaction, 'select 1')
          expect(isMade).toBe(false)
          outlived.goOn()
          await next
          await commit()

          expect(await outlived.last).toBe('written')
          expect([await issuesOn(storage, BOARD), await notes()]).toEqual([['2'], []])
        })
      })

      test('is rolled back at once as far as it has come, ahead of a COMMIT that does not wait for it', async (context) => {
        await onEach(context, async ({ storage, notes }, { transaction, commit }) => {
          const outlived = await interruptedPin(storage, transaction)
          await commit()
          outlived.goOn()
          await outlived.last

          expect(await issuesOn(storage, BOARD)).toEqual([])
          expect(await notes()).not.toContain('early')
        })
      })
    })

    async function onEach(
      { onTestFinished }: TestContext,
      work: (opened: OpenUse & { notes(): Promise<unknown> }, host: HostTransaction) => Promise<void>,
    ): Promise<void> {
      for (const use of storageUses(kind)) {
        const database = await newDatabase(kind, server, onTestFinished)
        await database.run('create table host_notes (note varchar(20))')
        const maker = kind.storage(database.url)
        await maker.migrate()
        await maker.close()
        const opened = use.open(database.url, 3)
        onTestFinished(async () => {
          await opened.storage.close()
          opened.end()
        })
        const host = await opened.begin?.()
        if (host === undefined) continue
        const notes = async () => (await database.run('select note from host_notes')).map(({ note }) => note)
        await work({ ...opened, notes }, host)
      }
    }
  })
}

/** A pin whose signal has aborted, and whose `beforeCommit` still runs. */
async function interruptedPin(storage: OpenUse['storage'], transaction: unknown) {
  const controller = new AbortController()
  const reason = new Error('given up')
  let goOn = (): void => undefined
  const held = new Promise<void>((resolve) => {
    goOn = resolve
  })
  let begun = (): void => undefined
  const beginning = new Promise<void>((resolve) => {
    begun = resolve
  })
  let ended = (_: string): void => undefined
  const last = new Promise<string>((resolve) => {
    ended = resolve
  })
  const pinning = pin(storage, BOARD, '1', {
    transaction,
    signal: controller.signal,
    async beforeCommit(_, open) {
      await run(open, "insert into host_notes values ('early')")
      begun()
      await held
      ended(
        await run(open, "insert into host_notes values ('late')").then(
          () => 'written',
          () => 'refused',
        ),
      )
    },
  })
  await Promise.race([beginning, pinning])
  controller.abort(reason)
  await expect(pinning).rejects.toBe(reason)
  return { goOn: () => goOn(), last }
}

/** Runs a statement of the host, on a transaction of any library. */
async function run(transaction: unknown, text: string): Promise<void> {
  if (typeof transaction !== 'object' || transaction === null) throw new TypeError('there is no transaction')
  if (isOfKysely(transaction)) await sql.raw(text).execute(transaction)
  else await Reflect.get(transaction, 'query').call(transaction, text)
}

function isOfKysely(transaction: object): transaction is Transaction<unknown> {
  return 'isTransaction' in transaction
}
