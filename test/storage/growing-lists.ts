import { expect } from 'vitest'
import type { MaybePromise, Page } from '../../src/index.ts'
import type { ForgeStorage, PageQuery } from '../../src/storage/storage.ts'
import { block, define } from '../../src/testing/testing.ts'

const FIRST = 20
const LIMIT = 4

/** Lists to which others add between any two statements of a reader. */
export class GrowingLists<Tx> {
  readonly #storage: ForgeStorage<Tx>
  #length = 0

  constructor(storage: ForgeStorage<Tx>) {
    this.#storage = storage
  }

  /** Adds a block and a definition to the lists, and commits that. */
  async grow(): Promise<void> {
    this.#length += 1
    await block(this.#storage, '20', String(this.#length))
    await define(this.#storage, String(this.#length))
  }

  /** Fills the lists, begins to add before each statement of the reader, and expects each page to be that of its total. */
  async expectWholePages(
    transaction: Tx | undefined,
    beforeEachStatement: (grow: () => Promise<void>) => void,
  ): Promise<void> {
    while (this.#length < FIRST) await this.grow()
    beforeEachStatement(() => this.grow())

    const { blocks, badgeCatalogue } = this.#storage
    await expectWhole(
      (query) => blocks.page('20', query, transaction),
      (one) => one.userId,
    )
    await expectWhole(
      (query) => badgeCatalogue.page(query, transaction),
      (one) => one.slug,
    )
    expect(this.#length).toBeGreaterThan(FIRST)
  }
}

async function expectWhole<Item>(
  read: (query: PageQuery) => MaybePromise<Page<Item>>,
  nameOf: (item: Item) => string,
): Promise<void> {
  const names = async (from: PageQuery['from'], limit: number) => {
    const { items, total, cursor } = await read({ from, limit })
    return { names: items.map(nameOf), total, cursor }
  }

  for (const page of [1, 2, 3, 4, 5, 6]) {
    const found = await names({ page }, LIMIT)
    expect(found.names).toEqual(idsUpTo(found.total).slice((page - 1) * LIMIT, page * LIMIT))
    expect(found.cursor !== undefined).toBe(page * LIMIT < found.total)
  }
  const { cursor } = await names({ page: 1 }, LIMIT)
  const rest = await names({ after: String(cursor) }, 1000)
  expect(rest.names).toEqual(idsUpTo(rest.total).slice(LIMIT))
}

function idsUpTo(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => String(index + 1))
}
