import type { Generated, Kysely, Transaction } from 'kysely'
import type { Kysely as Kysely27, Transaction as Transaction27 } from 'kysely27'
import type { Kysely as Kysely29, Transaction as Transaction29 } from 'kysely29'
import { expectTypeOf, test } from 'vitest'
import type { Actor, ForgeEvent } from '../../src/index.ts'
import { createForge } from '../../src/index.ts'
import type { KyselyTransaction } from '../../src/storage/kysely.ts'
import { kyselyStorage } from '../../src/storage/kysely.ts'
import type { ForgeStorage } from '../../src/storage/storage.ts'

interface HostTables {
  readonly issues: { readonly id: Generated<number>; readonly title: string }
}

declare const kysely: Kysely<HostTables>
declare const transaction: Transaction<HostTables>

test('the transactions of a storage are those of its Kysely, whatever tables that knows', () => {
  const storage = kyselyStorage(kysely, { dialect: 'postgres' })
  const untyped = (any: Kysely<Record<string, Record<string, unknown>>>) => kyselyStorage(any, { dialect: 'mysql' })

  expectTypeOf(storage).toEqualTypeOf<ForgeStorage<Transaction<HostTables>>>()
  expectTypeOf(untyped).returns.toEqualTypeOf<ForgeStorage<Transaction<Record<string, Record<string, unknown>>>>>()
})

test('a Kysely of another version will do', () => {
  const open27 = (old: Kysely27<HostTables>) => kyselyStorage(old, { dialect: 'mysql' })
  const open29 = (recent: Kysely29<HostTables>) => kyselyStorage(recent, { dialect: 'mysql' })

  expectTypeOf(open27).returns.toEqualTypeOf<ForgeStorage<Transaction27<HostTables>>>()
  expectTypeOf(open29).returns.toEqualTypeOf<ForgeStorage<Transaction29<HostTables>>>()
})

test('a forge runs in a transaction of the Kysely, and gives it to what the host runs there', () => {
  const forge = createForge({
    storage: kyselyStorage(kysely, { dialect: 'postgres', schema: 'forge' }),
    policy: { authorize: () => ({ allow: true }) },
    membership: { isMember: () => false },
    beforeCommit(events, trx) {
      expectTypeOf(events).toEqualTypeOf<readonly ForgeEvent[]>()
      expectTypeOf(trx).toEqualTypeOf<Transaction<HostTables>>()
    },
  })
  const actor: Actor = { id: 1 }
  const call = () =>
    forge.withTransaction(transaction, ({ pins }) => pins.pin(actor, { id: 1, repositoryId: 2, kind: 'issue' }))

  expectTypeOf(call).returns.resolves.toHaveProperty('afterCommit')
  // @ts-expect-error: a Kysely is no transaction
  const wrong = () => forge.withTransaction(kysely, async () => undefined)
  expectTypeOf(wrong).toBeFunction()
})

test('a Kysely is not a transaction, and its dialect must be named', () => {
  expectTypeOf<Transaction<HostTables>>().toExtend<KyselyTransaction>()
  expectTypeOf<Kysely<HostTables>>().not.toExtend<KyselyTransaction>()
  // @ts-expect-error: it cannot be seen from a Kysely
  kyselyStorage(kysely, {})
  // @ts-expect-error: the handle of SQLite is for sqliteStorage
  kyselyStorage(kysely, { dialect: 'sqlite' })
})
