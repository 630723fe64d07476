import type { ForgeStorage } from '../../../src/storage/contract/storage.ts'

/** Schemas with the tables of storages, which are emptied and used again when all those storages are closed. */
export class ReusableSchemas {
  readonly #empty: (schema: string) => Promise<void>
  readonly #name: string
  /** Schema to how many use it. */
  readonly #users = new Map<string, number>()

  /**
   * @param empty - empties the tables in a schema
   * @param name - begins the name of every schema
   */
  constructor(empty: (schema: string) => Promise<void>, name = 'reused') {
    this.#empty = empty
    this.#name = name
  }

  /** Makes a storage in a schema that is new, or as good as new. */
  async fresh<Tx>(make: (schema: string) => Promise<ForgeStorage<Tx>>): Promise<ForgeStorage<Tx>> {
    const [known] = [...this.#users].find(([, users]) => users === 0) ?? []
    const schema = known ?? `${this.#name}_${this.#users.size}`
    this.#count(schema, 1)
    try {
      if (known !== undefined) await this.#empty(known)
      return await make(schema)
    } finally {
      this.#count(schema, -1)
    }
  }

  /** The storage in a schema, which uses it until it is closed. */
  watched<Tx>(schema: string, storage: ForgeStorage<Tx>): ForgeStorage<Tx> {
    this.#count(schema, 1)
    let closed = false
    const close = async () => {
      if (!closed) this.#count(schema, -1)
      closed = true
      await storage.close()
    }
    return { ...storage, close }
  }

  #count(schema: string, change: 1 | -1): void {
    this.#users.set(schema, (this.#users.get(schema) ?? 0) + change)
  }
}
