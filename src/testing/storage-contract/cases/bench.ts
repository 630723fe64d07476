import type { ForgeStorage } from '../../../storage/storage.ts'
import type { ContractHost, HostTransaction } from '../contract-host.ts'

/** The parts of a host, for one case: bound to its storage; whatever they open is ended with the case. */
export class Bench<Tx> {
  readonly #storage: ForgeStorage<Tx>
  readonly #host: ContractHost<Tx>
  readonly #opened: ForgeStorage<Tx>[] = []
  readonly #begun: HostTransaction<Tx>[] = []

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

  /** Ends what is open still, in the order in which a host would. */
  async end(): Promise<void> {
    for (const transaction of this.#begun) await transaction.rollback()
    for (const storage of this.#opened) await storage.close()
  }

  #keep(storage: ForgeStorage<Tx>): ForgeStorage<Tx> {
    this.#opened.push(storage)
    return storage
  }

  #open(begun: HostTransaction<Tx>): HostTransaction<Tx> {
    const ended = (): void => void this.#begun.splice(this.#begun.indexOf(transaction), 1)
    const transaction: HostTransaction<Tx> = {
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
    this.#begun.push(transaction)
    return transaction
  }

  #part<K extends keyof ContractHost<Tx>>(name: K): NonNullable<ContractHost<Tx>[K]> {
    const part = this.#host[name]
    if (part === undefined) throw new TypeError(`the host of this case gives no ${name}`)
    return part
  }
}
