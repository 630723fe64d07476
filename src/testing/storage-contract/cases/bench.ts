import type { ForgeStorage } from '../../../storage/storage.ts'
import type { ContractHost, HostTransaction } from '../contract-host.ts'

/** The parts of a host, for one case: bound to its storage; whatever they open is ended with the case. */
export class Bench<Tx> {
  readonly #storage: ForgeStorage<Tx>
  readonly #host: ContractHost<Tx>
  readonly #opened: ForgeStorage<Tx>[] = []
  readonly #begun: HostTransaction<Tx>[] = []
  readonly #ended = new Set<HostTransaction<Tx>>()

  constructor(storage: ForgeStorage<Tx>, host: ContractHost<Tx>) {
    this.#storage = storage
    this.#host = host
    this.#opened.push(storage)
  }

  /** Another storage over the same data. */
  async again(): Promise<ForgeStorage<Tx>> {
    return this.#keep(await this.#part('again')(this.#storage))
  }

  /** A storage of its own in the same database. */
  async beside(): Promise<ForgeStorage<Tx>> {
    return this.#keep(await this.#part('beside')(this.#storage))
  }

  /** A transaction of the host's own; what the case does not end is rolled back behind it. */
  async begin(): Promise<HostTransaction<Tx>> {
    return this.#open(await this.#part('begin')(this.#storage))
  }

  /** A transaction of the host's own that reads from one snapshot. */
  async beginSnapshot(): Promise<HostTransaction<Tx>> {
    return this.#open(await this.#part('beginSnapshot')(this.#storage))
  }

  /** A transaction of the host's own in which each statement reads what is committed when it begins. */
  async beginReadCommitted(): Promise<HostTransaction<Tx>> {
    return this.#open(await this.#part('beginReadCommitted')(this.#storage))
  }

  /** Ends what is open still, in the order in which a host would. */
  async end(): Promise<void> {
    for (const begun of this.#begun) if (!this.#ended.has(begun)) await rolledBack(begun)
    for (const storage of this.#opened) await storage.close()
    for (const begun of this.#begun) await begun.release?.()
  }

  #keep(storage: ForgeStorage<Tx>): ForgeStorage<Tx> {
    this.#opened.push(storage)
    return storage
  }

  #open(begun: HostTransaction<Tx>): HostTransaction<Tx> {
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

  #part<K extends keyof ContractHost<Tx>>(name: K): NonNullable<ContractHost<Tx>[K]> {
    const part = this.#host[name]
    if (part === undefined) throw new TypeError(`the host of this case gives no ${name}`)
    return part
  }
}

/** What the case itself failed with is to be told, not what came of it. */
async function rolledBack<Tx>(transaction: HostTransaction<Tx>): Promise<void> {
  try {
    await transaction.rollback()
  } catch {
    // its connection may be of no use any more
  }
}
