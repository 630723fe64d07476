import assert from 'node:assert/strict'
import type { ForgeErrorCode, HostThing, Id } from '../../../index.ts'
import { isForgeError } from '../../../index.ts'
import type { BlockKey, ForgeStorage } from '../../../storage/storage.ts'
import type { BegunTransaction, ContractHost } from '../contract-host.ts'

/** Opens a new storage, migrated and empty, each time it is called. */
export type OpenStorage<Tx> = () => Promise<ForgeStorage<Tx>>

/** One requirement for every storage. `run` rejects if the storage does not meet it. */
export interface StorageCase {
  /** A statement in the present tense. */
  readonly name: string
  /** The parts of the host that the case requires. */
  readonly needs: readonly (keyof ContractHost<unknown>)[]
  /** Whether it is about what a report of a deletion returns or records. Then it does not run where tables show deletions. */
  readonly isOfReports?: true
  run<Tx>(open: OpenStorage<Tx>, host: ContractHost<Tx>): Promise<void>
}

/** The rows of the host that a storage knows. */
export interface HostRows<Tx> {
  create(thing: HostThing, ...ids: readonly Id[]): Promise<void>
  remove(thing: HostThing, id: Id, transaction?: Tx): Promise<void>
  hide(thing: 'user' | 'issue', row: { readonly id: Id; readonly isHidden: boolean }, transaction?: Tx): Promise<void>
  addMember(member: BlockKey, transaction?: Tx): Promise<void>
}

/** Creates a case from a statement and a check that runs on one new storage. The case closes the storage afterwards. */
export function storageCase(name: string, check: <Tx>(storage: ForgeStorage<Tx>) => Promise<void>): StorageCase {
  return hostCase(name, [], check)
}

/** Creates a case that needs a part of the host, from a statement and a check that runs on one new storage. */
export function hostCase(
  name: string,
  needs: StorageCase['needs'],
  check: <Tx>(storage: ForgeStorage<Tx>, bench: CaseHost<Tx>) => Promise<void>,
): StorageCase {
  return {
    name,
    needs,
    async run(open, host) {
      const storage = await open()
      const bench = new CaseHost(storage, host)
      try {
        await check(storage, bench)
      } finally {
        await bench.end()
      }
    },
  }
}

/** Creates a case that begins with a transaction of the host. */
export function begunCase(
  name: string,
  check: <Tx>(storage: ForgeStorage<Tx>, begun: BegunTransaction<Tx>, bench: CaseHost<Tx>) => Promise<void>,
  needs: StorageCase['needs'] = [],
): StorageCase {
  return hostCase(name, ['begin', ...needs], async (storage, bench) => check(storage, await bench.begin(), bench))
}

/** Returns a case that is about what a report of a deletion returns and records. */
export function ofReports(one: StorageCase): StorageCase {
  return { ...one, isOfReports: true }
}

/** Creates a case that runs on a storage in which ids may be any text. */
export function textIdCase(name: string, check: <Tx>(storage: ForgeStorage<Tx>) => Promise<void>): StorageCase {
  return {
    name,
    needs: ['textIds'],
    run: (open, host) => storageCase(name, check).run(host.textIds ?? open, host),
  }
}

/** Checks that a call is refused with this code, whether it throws synchronously or rejects. */
export async function refuses(code: ForgeErrorCode, call: () => unknown): Promise<void> {
  const outcome = await outcomeOf(call)
  assert.ok('thrown' in outcome, `refused with ${code}, but it answered`)
  assert.ok(isForgeError(outcome.thrown, code), `refused with ${code}, but it threw ${String(outcome.thrown)}`)
}

/** The outcome of a call: a value, or the error that it threw or rejected with. */
export type Outcome<T = unknown> = { readonly value: T } | { readonly thrown: unknown }

/** Makes a call and returns its outcome. */
export async function outcomeOf<T>(call: () => T): Promise<Outcome<Awaited<T>>>
export async function outcomeOf(call: () => unknown): Promise<Outcome>
export async function outcomeOf(call: () => unknown): Promise<Outcome> {
  try {
    return { value: await call() }
  } catch (thrown) {
    return { thrown }
  }
}

/** Returns a function that throws this value. */
export function refusing(thrown: unknown): () => never {
  return () => {
    throw thrown
  }
}

/**
 * The parts of a host for one case, bound to the storage of the case. Everything that they open is closed when the case
 * ends.
 */
export class CaseHost<Tx> {
  readonly #storage: ForgeStorage<Tx>
  readonly #host: ContractHost<Tx>
  readonly #opened: ForgeStorage<Tx>[] = []
  readonly #begun: BegunTransaction<Tx>[] = []
  readonly #ended = new Set<BegunTransaction<Tx>>()

  constructor(storage: ForgeStorage<Tx>, host: ContractHost<Tx>) {
    this.#storage = storage
    this.#host = host
    this.#opened.push(storage)
  }

  /** Opens another storage over the same data. */
  async again(): Promise<ForgeStorage<Tx>> {
    return this.#keep(await this.#part('again')(this.#storage))
  }

  /** Opens a storage with its own names in the same database. */
  async beside(): Promise<ForgeStorage<Tx>> {
    return this.#keep(await this.#part('beside')(this.#storage))
  }

  /** The tables of the host, with those calls that are about rows. */
  get rows(): HostRows<Tx> {
    const [storage, tables] = [this.#storage, this.#part('tables')]
    return {
      create: async (thing, ...ids) => void (await tables.create(storage, thing, ids)),
      remove: async (thing, id, transaction) => void (await tables.remove(storage, thing, id, transaction)),
      hide: async (thing, row, transaction) => void (await tables.hide?.(storage, thing, row, transaction)),
      addMember: async (member, transaction) => void (await tables.addMember(storage, member, transaction)),
    }
  }

  /** Begins a transaction of the host. If the case does not end it, it is rolled back afterwards. */
  async begin(how: 'begin' | 'beginSnapshot' | 'beginReadCommitted' = 'begin'): Promise<BegunTransaction<Tx>> {
    const begun = await this.#part(how)(this.#storage)
    this.#begun.push(begun)
    const ending = (end: 'commit' | 'rollback') => async () => {
      this.#ended.add(begun)
      await begun[end]()
    }
    return { transaction: begun.transaction, commit: ending('commit'), rollback: ending('rollback') }
  }

  /** Ends everything that is still open, in the order in which a host would. */
  async end(): Promise<void> {
    for (const begun of this.#begun) {
      // The connection may no longer be usable. The error of the case itself must be reported.
      if (!this.#ended.has(begun)) await outcomeOf(() => begun.rollback())
    }
    for (const storage of this.#opened) await storage.close()
    for (const begun of this.#begun) await begun.release?.()
  }

  #keep(storage: ForgeStorage<Tx>): ForgeStorage<Tx> {
    this.#opened.push(storage)
    return storage
  }

  #part<K extends keyof ContractHost<Tx>>(name: K): NonNullable<ContractHost<Tx>[K]> {
    const part = this.#host[name]
    if (part === undefined) throw new TypeError(`the host of this contract provides no ${name}`)
    return part
  }
}
