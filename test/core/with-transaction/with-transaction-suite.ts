import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import type { Forge, ForgeEvent, ForgeOptions, PortContext, TransactionServices } from '../../../src/index.ts'
import { createForge } from '../../../src/index.ts'
import type { ForgeStorage } from '../../../src/storage/storage.ts'
import { heldInBeforeCommit, whileWaiting } from '../../../src/testing/storage-contract/cases/gate.ts'
import type { HostTransaction } from '../../../src/testing/testing.ts'
import type { StorageKind } from '../../storage/databases/storage-kind.ts'
import type { Person } from '../a-forge.ts'
import { codeOf, mia, olga } from '../a-forge.ts'

const issue = (id: number) => ({ id, repositoryId: 10, kind: 'issue' }) as const
const board = { repositoryId: 10, kind: 'issue' } as const
const target = { organizationId: 5, account: { kind: 'user', id: 9 } } as const

type Options<Tx> = Partial<Omit<ForgeOptions<Person, Tx>, 'storage'>>

/** Says what `withTransaction` does, on one kind of storage whose transactions answer later. */
export function withTransactionSuite<Tx>(kind: StorageKind<Tx>): void {
  const { begin } = kind.host
  if (begin === undefined) throw new TypeError(`${kind.name} has no transactions of a host`)

  let storage: ForgeStorage<Tx>
  let host: HostTransaction<Tx>

  beforeEach(async () => {
    storage = await kind.open()
    host = await begin(storage)
  })

  afterEach(async () => {
    await host.rollback()
    await host.release?.()
    await storage.close()
  })

  afterAll(() => kind.end())

  function aForge(options: Options<Tx> = {}): Forge<Person, Tx> {
    return createForge<Person, Tx>({
      storage,
      policy: { authorize: () => ({ allow: true }) },
      membership: { isMember: () => false },
      ...options,
    })
  }

  async function pinned(forge: Forge<Person, Tx>): Promise<readonly string[]> {
    return (await forge.pins.list(olga, board)).map((pin) => pin.issueId)
  }

  const pin = (id: number) => (services: TransactionServices<Person>) => services.pins.pin(olga, issue(id))

  test('ends after the beforeCommit of a call that was interrupted, which leaves nothing behind', async () => {
    let isOver = false
    const { outcome, release } = await interrupted(async (transaction) => {
      await transaction
      isOver = true
    })
    await whileWaiting(outcome)
    expect(isOver).toBe(false)
    release()
    await outcome
    await host.commit()

    expect(await pinned(aForge())).toEqual([])
  })

  test('must be run again if the beforeCommit of a call that was interrupted does not end', async () => {
    let ending: Promise<unknown> | undefined
    const { release } = await interrupted((transaction) => {
      ending = transaction
      return transaction
    })

    expect(await codeOf(() => ending)).toBe('STORAGE_BUSY')
    release()
  })

  /** Runs a transaction with a pin whose signal aborts while its `beforeCommit` runs; the work goes on without it. */
  function interrupted(watch: (transaction: Promise<unknown>) => Promise<unknown>) {
    const controller = new AbortController()
    return heldInBeforeCommit((hold) => {
      const beforeCommit = () => {
        setTimeout(() => controller.abort(new Error('given up')), 0)
        return hold()
      }
      const transaction = aForge({ beforeCommit }).withTransaction(host.transaction, async (services) => {
        await services.pins.pin(olga, issue(1), { signal: controller.signal }).catch(() => undefined)
      })
      return watch(transaction)
    })
  }

  test('commits with the host, and nothing is seen outside before', async () => {
    const forge = aForge()
    const { value } = await forge.withTransaction(host.transaction, pin(1))
    const before = await pinned(forge)
    await host.commit()
    expect([value.position, before, await pinned(forge)]).toEqual([1, [], ['1']])
  })

  test('is rolled back with the host', async () => {
    const forge = aForge()
    await forge.withTransaction(host.transaction, pin(1))
    await host.rollback()
    expect([await pinned(forge), (await forge.events.read()).events]).toEqual([[], []])
  })

  test('notifies its listeners once the host has committed', async () => {
    const forge = aForge()
    const received: ForgeEvent[] = []
    const reported = new Promise<void>((resolve) => {
      forge.events.on((event) => {
        received.push(event)
        resolve()
      })
    })
    const { afterCommit } = await forge.withTransaction(host.transaction, pin(1))
    expect(received).toEqual([])
    await host.commit()
    afterCommit()
    await reported
    expect(received.map((event) => event.type)).toEqual(['issue.pinned'])
  })

  test('reports nothing that was rolled back', async () => {
    const forge = aForge()
    const received: ForgeEvent[] = []
    forge.events.on((event) => received.push(event))
    const { afterCommit } = await forge.withTransaction(host.transaction, pin(1))
    await host.rollback()
    afterCommit()
    await forge.pins.pin(olga, issue(2))
    expect(received.map((event) => event.issueId)).toEqual(['2'])
  })

  test('keeps what came before a refused call', async () => {
    const forge = aForge({ limits: { maxPins: { issue: 1 } } })
    await forge.withTransaction(host.transaction, async (services) => {
      await services.pins.pin(olga, issue(1))
      expect(await codeOf(() => services.pins.pin(olga, issue(2)))).toBe('PIN_LIMIT_REACHED')
      await services.blocks.block(olga, target)
    })
    await host.commit()
    expect([await pinned(forge), (await forge.blocks.list(olga, { organizationId: 5 })).total]).toEqual([['1'], 1])
  })

  test('runs calls that are started together one after the other, and loses none', async () => {
    const forge = aForge({ limits: { maxPins: { issue: 5 } } })
    await forge.withTransaction(host.transaction, async (services) => {
      await Promise.allSettled([1, 2, 3, 4, 5, 6].map((id) => services.pins.pin(olga, issue(id))))
    })
    await host.commit()
    expect([...(await pinned(forge))].sort()).toEqual(['1', '2', '3', '4', '5'])
  })

  test('loses nothing of two calls on one transaction at once', async () => {
    const forge = aForge()
    await Promise.all([
      forge.withTransaction(host.transaction, pin(1)),
      forge.withTransaction(host.transaction, pin(2)),
    ])
    await host.commit()
    expect([...(await pinned(forge))].sort()).toEqual(['1', '2'])
  })

  test('waits for a call that its work did not wait for', async () => {
    const forge = aForge()
    await forge.withTransaction(host.transaction, async (services) => {
      void services.pins.pin(olga, issue(1))
    })
    await host.commit()
    expect(await pinned(forge)).toEqual(['1'])
  })

  test('gives its ports the transaction', async () => {
    const seen: (Tx | undefined)[] = []
    const noted = <T>({ transaction }: PortContext<unknown, Tx>, answer: T): T => {
      seen.push(transaction)
      return answer
    }
    const forge = aForge({
      policy: { authorize: (_request, context) => noted(context, { allow: true }) },
      membership: { isMember: (_member, context) => noted(context, false) },
    })
    await forge.withTransaction(host.transaction, (services) => services.blocks.block(olga, target))
    expect(seen.length).toBe(2)
    for (const transaction of seen) expect(transaction).toBe(host.transaction)
  })

  test('runs beforeCommit on the transaction, which may read there and change nothing', async () => {
    const reported: unknown[] = []
    const forge: Forge<Person, Tx> = aForge({
      async beforeCommit(events, transaction) {
        reported.push(
          events.map((event) => event.type),
          transaction === host.transaction,
        )
        const { value } = await forge.withTransaction(transaction, (services) => services.pins.list(olga, board))
        reported.push(value.map((one) => one.issueId))
        const change = forge.withTransaction(transaction, pin(2))
        reported.push(await change.catch((error: unknown) => error))
      },
    })
    await forge.withTransaction(host.transaction, pin(1))
    await host.commit()
    expect(reported).toEqual([['issue.pinned'], true, ['1'], expect.any(TypeError)])
    expect(await pinned(forge)).toEqual(['1'])
  })

  test('makes every call that comes while another is in its beforeCommit', async () => {
    let beforeCommit: (() => Promise<void>) | undefined
    const forge = aForge({
      limits: { maxPins: { issue: 6 } },
      policy: { authorize: async () => ({ allow: true }) },
      beforeCommit: () => beforeCommit?.(),
    })
    await forge.withTransaction(host.transaction, async (services) => {
      const first = await heldInBeforeCommit((hold) => {
        beforeCommit = hold
        return services.pins.pin(olga, issue(1))
      })
      const others = Promise.all([2, 3, 4, 5, 6].map((id) => services.pins.pin(olga, issue(id))))
      await whileWaiting(others)
      first.release()
      await first.outcome
      await others
    })
    await host.commit()
    expect([...(await pinned(forge))].sort()).toEqual(['1', '2', '3', '4', '5', '6'])
  })

  test('refuses a change that beforeCommit makes by another forge on the same storage', async () => {
    const other = aForge()
    const refusals: unknown[] = []
    const forge = aForge({
      async beforeCommit(_events, transaction) {
        await other.withTransaction(transaction, (services) => services.pins.list(olga, board))
        refusals.push(await other.withTransaction(transaction, pin(2)).catch((error: unknown) => error))
      },
    })
    await forge.withTransaction(host.transaction, pin(1))
    await host.commit()
    expect(refusals).toEqual([expect.any(TypeError)])
    expect(await pinned(forge)).toEqual(['1'])
  })

  test('makes a change that beforeCommit started and did not wait for, once that is over', async () => {
    let isOver: (() => void) | undefined
    const over = new Promise<void>((resolve) => {
      isOver = resolve
    })
    const forge: Forge<Person, Tx> = aForge({
      policy: {
        // answers mia when the first pin has been made
        async authorize(_request, { actor }) {
          if (actor === mia) await over
          return { allow: true }
        },
      },
      beforeCommit(events) {
        if (events.some((event) => event.issueId === '1')) started.push(pinByMia?.())
      },
    })
    const started: (Promise<unknown> | undefined)[] = []
    let pinByMia: (() => Promise<unknown>) | undefined
    await forge.withTransaction(host.transaction, async (services) => {
      pinByMia = () => services.pins.pin(mia, issue(2))
      await services.pins.pin(olga, issue(1))
      isOver?.()
    })
    await Promise.all(started)
    await host.commit()
    expect([started.length, await pinned(forge)]).toEqual([1, ['1', '2']])
  })

  test('takes back the change whose beforeCommit throws, and no other', async () => {
    const forge = aForge({
      beforeCommit: (events) => {
        if (events.some((event) => event.type === 'user.blocked')) throw new Error('no watches today')
      },
    })
    await forge.withTransaction(host.transaction, async (services) => {
      await services.pins.pin(olga, issue(1))
      await expect(services.blocks.block(olga, target)).rejects.toThrow('no watches today')
    })
    await host.commit()
    expect([await pinned(forge), (await forge.blocks.list(olga, { organizationId: 5 })).total]).toEqual([['1'], 0])
  })

  test('runs lifecycle calls, and heeds them in the same transaction', async () => {
    const forge = aForge()
    await forge.pins.pin(olga, issue(1))
    await forge.withTransaction(host.transaction, async (services) => {
      await services.lifecycle.issueDeleted(issue(1))
      expect(await codeOf(() => services.pins.pin(olga, issue(1)))).toBe('ISSUE_NOT_FOUND')
    })
    await host.commit()
    expect(await pinned(forge)).toEqual([])
  })

  test('ends with what its work ends with', async () => {
    const forge = aForge()
    const failure = new Error('the host changed its mind')
    await expect(forge.withTransaction(host.transaction, () => Promise.reject(failure))).rejects.toBe(failure)
    const { value } = await forge.withTransaction(host.transaction, async () => 'done')
    expect(value).toBe('done')
  })

  test('cannot be used when it is over', async () => {
    const forge = aForge()
    const { value } = await forge.withTransaction(
      host.transaction,
      async (services) => () => services.pins.pin(olga, issue(1)),
    )
    await expect(value()).rejects.toThrow('withTransaction has ended')
  })

  test('refuses a connection that is in no transaction', async () => {
    const forge = aForge()
    await host.rollback()
    await expect(forge.withTransaction(host.transaction, pin(1))).rejects.toThrow(TypeError)
  })

  test('does not begin its work on a connection that is in no transaction', async () => {
    const forge = aForge()
    await host.rollback()
    let began = false
    const work = async () => {
      began = true
    }
    await expect(forge.withTransaction(host.transaction, work)).rejects.toThrow(TypeError)
    expect(began).toBe(false)
  })

  test('is refused where withTransactionSync is asked for', () => {
    expect(() => aForge().withTransactionSync(host.transaction, () => undefined)).toThrow('use withTransaction')
  })
}
