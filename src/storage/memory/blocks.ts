import type { Id } from '../../schema/ids.ts'
import type { Block } from '../../schema/records.ts'
import type { BlockKey, BlockState, BlockStore } from '../contract/stores.ts'
import type { Aggregate } from './aggregate.ts'
import { refuseRetired, updateAggregate } from './aggregate.ts'
import type { MemoryTables } from './memory-tables.ts'
import { copyBlock } from './memory-tables.ts'
import { cutPage, indexAfter } from './pages.ts'
import type { MemoryStore, Removal, Removals } from './retirement.ts'
import { keepAll } from './retirement.ts'

/** One block and its place in order of blocking. */
interface PlacedBlock {
  readonly place: number
  readonly block: Block
}

/** The blocks of one organization: by user, and in order of blocking. */
class OrganizationBlocks {
  readonly #byUser = new Map<Id, PlacedBlock>()
  readonly #inOrder: PlacedBlock[] = []

  get inOrder(): readonly PlacedBlock[] {
    return this.#inOrder
  }

  find(userId: Id): PlacedBlock | undefined {
    return this.#byUser.get(userId)
  }

  /** Adds a block behind all others. */
  add(placed: PlacedBlock): void {
    this.#byUser.set(placed.block.userId, placed)
    this.#inOrder.push(placed)
  }

  remove(userId: Id): void {
    const placed = this.#byUser.get(userId)
    if (placed === undefined) return

    this.#byUser.delete(userId)
    this.#inOrder.splice(indexAfter(this.#inOrder, placeOf, placed.place - 1), 1)
  }
}

function placeOf({ place }: PlacedBlock): number {
  return place
}

/** The tables, and the blocks among them, by organization. */
interface BlockTables {
  readonly tables: MemoryTables
  readonly all: () => Map<Id, OrganizationBlocks>
}

/** Creates the blocks of a memory storage. */
export function memoryBlocks(tables: MemoryTables): MemoryStore<BlockStore<undefined>> {
  const blocks: BlockTables = { tables, all: tables.own(new Map()) }

  const store: BlockStore<undefined> = {
    epoch: (organizationId) => tables.head(`organization ${organizationId}`).epoch,
    update: (key, change) => updateAggregate(tables, block(blocks, key), change),
    find: (key) => block(blocks, key).load().block,
    among: (organizationId, userIds) => among(blocks, organizationId, userIds),
    page(organizationId, query) {
      refuseRetired(tables, [[`organization ${organizationId}`, 'organization']])
      const page = cutPage(blocksOf(blocks, organizationId).inOrder, placeOf, query)
      return { ...page, items: page.items.map((placed) => copyBlock(placed.block)) }
    },
  }
  return { store, removals: removalsOf(blocks) }
}

/** A retired user or organization takes the blocks of it with it. */
function removalsOf(blocks: BlockTables): Removals {
  return {
    user: ({ userId }) => removeUser(blocks, userId),
    organization: ({ organizationId }) => ({
      removed: { blocks: blocksOf(blocks, organizationId).inOrder.length },
      write: () => void blocks.all().delete(organizationId),
    }),
    repository: keepAll,
    issue: keepAll,
  }
}

function removeUser({ all }: BlockTables, userId: Id): Removal {
  const blockers = [...all().values()].filter((blocks) => blocks.find(userId) !== undefined)

  return {
    removed: { blocks: blockers.length },
    write() {
      for (const blocks of blockers) blocks.remove(userId)
    },
  }
}

function block(table: BlockTables, { organizationId, userId }: BlockKey): Aggregate<BlockState> {
  const head = `organization ${organizationId}` as const
  return {
    alive: [
      [`user ${userId}`, 'user'],
      [head, 'organization'],
    ],
    load() {
      const found = blocksOf(table, organizationId).find(userId)
      return { block: found && copyBlock(found.block), epoch: table.tables.head(head).epoch }
    },
    write(before, after) {
      table.tables.setEpoch(head, after.epoch)
      if (after.block === before.block) return

      const blocks = table.all().get(organizationId) ?? new OrganizationBlocks()
      table.all().set(organizationId, blocks)
      blocks.remove(userId) // a user who is blocked again comes last
      if (after.block !== undefined) blocks.add({ place: table.tables.nextPlace(), block: copyBlock(after.block) })
    },
  }
}

function among(table: BlockTables, organizationId: Id, userIds: readonly Id[]): ReadonlySet<Id> {
  const blocks = blocksOf(table, organizationId)
  return new Set(userIds.filter((userId) => blocks.find(userId) !== undefined))
}

function blocksOf({ all }: BlockTables, organizationId: Id): OrganizationBlocks {
  return all().get(organizationId) ?? new OrganizationBlocks()
}
