import { expect, test } from 'vitest'
import type {
  Forge,
  ForgeEvent,
  ForgeOptions,
  MaybePromise,
  PortContext,
  TransactionServices,
} from '../../src/index.ts'
import { heldInBeforeCommit, whileWaiting } from '../../src/testing/storage-contract/cases/gate.ts'
import type { Outcome } from '../../src/testing/storage-contract/cases/storage-case.ts'
import { outcomeOf } from '../../src/testing/storage-contract/cases/storage-case.ts'
import type { Person } from '../core/a-forge.ts'
import { codeOf, mia, olga } from '../core/a-forge.ts'
import type { AnyKind, DatabaseKind, OpenDatabase, OpenTransaction } from '../databases.ts'
import { onDatabases } from '../databases.ts'
import { deferred } from '../deferred.ts'
import { forgeOn } from './forge-on.ts'

const issue = (id: number) => ({ id, repositoryId: 10, kind: 'issue' }) as const
const board = { repositoryId: 10, kind: 'issue' } as const
const target = { organizationId: 5, account: { kind: 'user', id: 9 } } as const

type Services = TransactionServices<Person>
type Options<Tx> = Partial<Omit<ForgeOptions<Person, Tx>, 'storage'>>

const pin = (id: number) => (services: Services) => services.pins.pin(olga, issue(id))
const block = (services: Services) => services.blocks.block(olga, target)

/**
 * Says what a forge does in a transaction of the host, on storages that answer at once and on those that answer later. What a
 * storage does there is in the contract.
 */
export function hostTransactions(kinds: readonly AnyKind[]): void {
  onDatabases(kinds, <Tx>(open: OpenDatabase<Tx>, kind: DatabaseKind<Tx>) => {
    const isSync = kind.name.startsWith('SQLite')

    test('what is done in it is committed with the host, not seen outside before, and reported once after it', async () => {
      const { database, forge } = await opened()
      const received = listen(forge)
      await database.run('create table host_issues (id int)')
      const host = await database.begun()
      await host.run('insert into host_issues values (1)')
      const ends = [await within(forge, host, pin(1)), await within(forge, host, pin(2))]
      const before = kind.answersBeside ? await pinned(forge) : []
      await host.commit()
      expect([before, received]).toEqual([[], []])
      for (const { afterCommit } of [...ends.toReversed(), ...ends]) afterCommit()

      expect([await pinned(forge), await database.run('select id from host_issues')]).toEqual([['1', '2'], [{ id: 1 }]])
      expect(received.map((event) => event.issueId)).toEqual(['2', '1'])
    })

    test('the ports get the transaction', async () => {
      const seen: unknown[] = []
      const noted = <T>({ transaction }: PortContext<unknown, Tx>, answer: T): T => {
        seen.push(transaction)
        return answer
      }
      const { forge, host } = await begun({
        policy: { authorize: (_request, context) => noted(context, { allow: true }) },
        membership: { isMember: (_member, context) => noted(context, false) },
      })
      await within(forge, host, block)

      expect(seen.length).toBe(2)
      for (const transaction of seen) expect(transaction).toBe(host.transaction)
    })

    test('a connection that is in no transaction is refused, and no work is begun there', async () => {
      const { forge, host } = await begun()
      await host.rollback()
      let began = false
      const work = () => {
        began = true
      }

      expect(await outcomeOf(() => within(forge, host, work))).toEqual({ thrown: expect.any(TypeError) })
      expect(began).toBe(false)
    })

    test('a change that beforeCommit makes on the storage’s own transaction is refused', async () => {
      const { forge, host } = await begun({
        beforeCommit: (_events, transaction) =>
          settled(within(forge, { transaction }, pin(2)), ({ outcomes: [refused] }) => {
            if (refused !== undefined && 'thrown' in refused) throw refused.thrown
          }),
      })
      await host.rollback()

      await expect(forge.pins.pin(olga, issue(1))).rejects.toThrow('beforeCommit must not change the forge')
      expect(await pinned(forge)).toEqual([])
    })

    test('the services of a transaction end with the call', async () => {
      const { forge, host } = await begun()
      let late: Services | undefined
      await within(forge, host, (services) => {
        late = services
      })

      expect(await outcomeOf(() => late?.pins.list(olga, board))).toMatchObject({
        thrown: { message: expect.stringMatching(/withTransaction(Sync)? has ended/) },
      })
    })

    if (!isSync) {
      test('it ends after the beforeCommit of a call that was interrupted, which leaves nothing behind', async () => {
        const { forge, host, interruption } = await interruptible()
        let isOver = false
        const { outcome, release } = await interruption(async (transaction) => {
          await transaction
          isOver = true
        })
        await whileWaiting(outcome)
        expect(isOver).toBe(false)
        release()
        await outcome
        await host.commit()

        expect(await pinned(forge)).toEqual([])
      })

      test('a change whose beforeCommit fails a statement of the host is taken back, and no other', async () => {
        const { forge, host } = await begun({
          async beforeCommit(events) {
            if (events.some((event) => event.type === 'user.blocked')) await host.run('select 1 from host_nowhere')
          },
        })
        const { outcomes } = await within(forge, host, pin(1), block)
        await host.commit()

        expect(outcomes[1]).toEqual({ thrown: expect.any(Error) })
        expect([await pinned(forge), await blocked(forge)]).toEqual([['1'], 0])
      })

      test.each(['the same forge', 'another forge'])(
        'beforeCommit has the transaction, and may read there and change nothing by %s',
        async (whose) => {
          const reported: unknown[] = []
          const { forge, host, storage } = await begun({
            async beforeCommit(events, transaction) {
              reported.push(
                events.map((event) => event.type),
                transaction === host.transaction,
              )
              const by = whose === 'another forge' ? forgeOn(storage) : forge
              const { outcomes } = await within(
                by,
                { transaction },
                (services) => services.pins.list(olga, board),
                pin(2),
              )
              reported.push(outcomes)
            },
          })
          await within(forge, host, pin(1))
          await host.commit()

          expect(reported).toEqual([
            ['issue.pinned'],
            true,
            [{ value: [expect.objectContaining({ issueId: '1' })] }, { thrown: expect.any(TypeError) }],
          ])
          expect(await pinned(forge)).toEqual(['1'])
        },
      )

      test('it must be run again if the beforeCommit of a call that was interrupted does not end', async () => {
        const { interruption } = await interruptible()
        let ending: Promise<unknown> | undefined
        const { release } = await interruption((transaction) => {
          ending = transaction
          return transaction
        })

        expect(await codeOf(() => ending)).toBe('STORAGE_BUSY')
        release()
      })

      test('a call that the work did not wait for is waited for', async () => {
        const { forge, host } = await begun()
        await forge.withTransaction(host.transaction, async (services) => void pin(1)(services))
        await host.commit()

        expect(await pinned(forge)).toEqual(['1'])
      })

      test('a change that beforeCommit started and did not wait for is made once that is over', async () => {
        const over = deferred()
        const started: (Promise<unknown> | undefined)[] = []
        let pinByMia: (() => Promise<unknown>) | undefined
        const { forge, host } = await begun({
          policy: {
            // answers mia when the first pin has been made
            async authorize(_request, { actor }) {
              if (actor === mia) await over.promise
              return { allow: true }
            },
          },
          beforeCommit(events) {
            if (events.some((event) => event.issueId === '1')) started.push(pinByMia?.())
          },
        })
        await forge.withTransaction(host.transaction, async (services) => {
          pinByMia = () => services.pins.pin(mia, issue(2))
          await pin(1)(services)
          over.resolve()
        })
        await Promise.all(started)
        await host.commit()

        expect([started.length, await pinned(forge)]).toEqual([1, ['1', '2']])
      })

      test('it ends with what its work ends with', async () => {
        const { forge, host } = await begun()
        const failure = new Error('the host changed its mind')

        await expect(forge.withTransaction(host.transaction, () => Promise.reject(failure))).rejects.toBe(failure)
        expect(await forge.withTransaction(host.transaction, async () => 'done')).toMatchObject({ value: 'done' })
      })

      test('withTransactionSync is refused', async () => {
        const { forge, host } = await begun()

        expect(() => forge.withTransactionSync(host.transaction, () => undefined)).toThrow('use withTransaction')
      })
    }

    async function opened(options: Options<Tx> = {}) {
      const database = await open()
      const storage = database.storage()
      return { database, storage, forge: forgeOn(storage, options) }
    }

    /** A forge, and a transaction of its host. */
    async function begun(options: Options<Tx> = {}) {
      const { database, storage, forge } = await opened(options)
      return { storage, forge, host: await database.begun() }
    }

    /** Makes calls in a transaction, in this order: at once where the storage answers at once. */
    function within(
      forge: Forge<Person, Tx>,
      { transaction }: Pick<OpenTransaction<Tx>, 'transaction'>,
      ...calls: readonly ((services: Services) => unknown)[]
    ): MaybePromise<{ readonly outcomes: readonly Outcome[]; readonly afterCommit: () => void }> {
      if (isSync) {
        const { value, afterCommit } = forge.withTransactionSync(transaction, (services) =>
          // The calls give the same, at once.
          calls.map((call) => outcomeNow(() => call(services as unknown as Services))),
        )
        return { outcomes: value, afterCommit }
      }
      return forge
        .withTransaction(transaction, async (services) => {
          const outcomes: Outcome[] = []
          for (const call of calls) outcomes.push(await outcomeOf(() => call(services)))
          return outcomes
        })
        .then(({ value, afterCommit }) => ({ outcomes: value, afterCommit }))
    }

    /** A transaction in which a pin is interrupted while its `beforeCommit` runs; the work goes on without it. */
    async function interruptible() {
      let beforeCommit: (() => Promise<void>) | undefined
      const { forge, host } = await begun({ beforeCommit: () => beforeCommit?.() })
      const controller = new AbortController()
      const interruption = (watch: (transaction: Promise<unknown>) => Promise<unknown>) =>
        heldInBeforeCommit((hold) => {
          beforeCommit = () => {
            setTimeout(() => controller.abort(new Error('given up')), 0)
            return hold()
          }
          const work = (services: Services) =>
            services.pins.pin(olga, issue(1), { signal: controller.signal }).catch(() => undefined)
          return watch(forge.withTransaction(host.transaction, work))
        })
      return { forge, host, interruption }
    }

    async function pinned(forge: Forge<Person, Tx>): Promise<readonly string[]> {
      return (await forge.pins.list(olga, board)).map((one) => one.issueId)
    }

    async function blocked(forge: Forge<Person, Tx>): Promise<number | undefined> {
      return (await forge.blocks.list(olga, { organizationId: 5 })).total
    }

    function listen(forge: Forge<Person, Tx>): ForgeEvent[] {
      const received: ForgeEvent[] = []
      forge.events.on((event) => received.push(event))
      return received
    }
  })
}

function outcomeNow(call: () => unknown): Outcome {
  try {
    return { value: call() }
  } catch (thrown) {
    return { thrown }
  }
}

/** Goes on at once after what is there at once. */
function settled<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value as T) // not a promise: a value of T
}
