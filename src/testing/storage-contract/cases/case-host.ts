import type { ForgeStorage } from '../../../storage/storage.ts'
import type { BegunTransaction, ContractHost } from '../contract-host.ts'

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

  /** Begins a transaction of the host. If the case does not end it, it is rolled back afterwards. */
  async begin(how: 'begin' | 'beginSnapshot' | 'beginReadCommitted' = 'begin'): Promise<BegunTransaction<Tx>> {
    const begun = await this.#part(how)(this.#storage)
    this.#begun.push(begun)
    const ended = (): void => void this.#ended.add(begun)
    return {
      transaction: begun.transaction,
      commit: async () => {
        ended()
        await begun.commit()
      },
      rollback: async () => {
        ended()
        await begun.rollback()
      },
    }
  }

  /** Ends everything that is still open, in the order in which a host would. */
  async end(): Promise<void> {
    for (const begun of this.#begun) if (!this.#ended.has(begun)) await rolledBack(begun)
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

/** Ignores an error of the rollback, because the error of the case itself must be reported. */
async function rolledBack<Tx>(transaction: BegunTransaction<Tx>): Promise<void> {
  try {
    await transaction.rollback()
  } catch {
    // The connection may no longer be usable.
  }
}
