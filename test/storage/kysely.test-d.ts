import type { Generated, Kysely, Transaction } from 'kysely'
import type { Kysely as Kysely27 } from 'kysely27'
import type { Kysely as Kysely29 } from 'kysely29'
import { expectTypeOf, test } from 'vitest'
import type { Actor, ForgeEvent } from '../../src/index.ts'
import { createForge } from '../../src/index.ts'
import { mariadbStorage } from '../../src/storage/mariadb.ts'
import { postgresStorage } from '../../src/storage/postgres.ts'
import type { HostPortsOf, SqlStorage, HostTables as Tables } from '../../src/storage/storage.ts'

interface HostTables {
  readonly issues: { readonly id: Generated<number>; readonly title: string }
}

declare const kysely: Kysely<HostTables>
declare const transaction: Transaction<HostTables>

test('the transactions of a storage are those of its Kysely, whatever tables that knows', () => {
  const untyped = (any: Kysely<Record<string, Record<string, unknown>>>) => mariadbStorage(any)

  expectTypeOf(postgresStorage(kysely, { schema: 'forge' })).toEqualTypeOf<SqlStorage<Kysely<HostTables>>>()
  expectTypeOf(untyped).returns.toEqualTypeOf<SqlStorage<Kysely<Record<string, Record<string, unknown>>>>>()
})

test('a Kysely of another version will do', () => {
  const open27 = (old: Kysely27<HostTables>) => mariadbStorage(old)
  const open29 = (recent: Kysely29<HostTables>) => postgresStorage(recent)

  expectTypeOf(open27).returns.toEqualTypeOf<SqlStorage<Kysely27<HostTables>>>()
  expectTypeOf(open29).returns.toEqualTypeOf<SqlStorage<Kysely29<HostTables>>>()
})

test('tables of the host have their ports over a Kysely too', () => {
  const portsOf = (tables: Tables): HostPortsOf<Kysely<HostTables>, Tables> => postgresStorage(kysely, { tables }).host

  expectTypeOf(portsOf).toBeFunction()
})

test('a forge runs in a transaction of the Kysely, and gives one to what the host runs there', () => {
  const forge = createForge({
    storage: postgresStorage(kysely),
    policy: { authorize: () => ({ allow: true }) },
    membership: { isMember: () => false },
    beforeCommit(events, inside) {
      expectTypeOf(events).toEqualTypeOf<readonly ForgeEvent[]>()
      expectTypeOf(inside).toEqualTypeOf<Kysely<HostTables>>()
    },
  })
  const actor: Actor = { id: 1 }
  const call = () =>
    forge.withTransaction(transaction, ({ pins }) => pins.pin(actor, { id: 1, repositoryId: 2, kind: 'issue' }))

  expectTypeOf(call).returns.resolves.toHaveProperty('afterCommit')
})

test('MariaDB has no schemas, whatever is above it', () => {
  // @ts-expect-error: it has databases
  mariadbStorage(kysely, { schema: 'forge' })
})
