import type { Id } from '../../schema/ids.ts'
import type { Block } from '../../schema/records.ts'
import type { BlockKey, BlockStore } from '../contract/stores.ts'
import type { Aggregate } from './aggregate.ts'
import { refuseRetired, updateAggregate } from './aggregate.ts'
import type { MemoryTables, PlacedBlock } from './memory-tables.ts'
import { copyBlock } from './memory-tables.ts'
import { cutPage } from './pages.ts'

/** Creates the blocks of a memory storage. */
export function memoryBlocks(tables: MemoryTables): BlockStore<undefined> {
  return {
    epoch: ({ organizationId }) => tables.head(`organization ${organizationId}`).epoch,
    update: (key, change) => updateAggregate(tables, block(tables, key), change),
    find: (key) => block(tables, key).load(),
    among: (organizationId, userIds) => among(tables, organizationId, userIds),
    page(organizationId, query) {
      refuseRetired(tables, [[`organization ${organizationId}`, 'organization']])
      const page = cutPage([...blocksOf(tables, organizationId).values()], (placed) => placed.place, query)
      return { ...page, items: page.items.map((placed) => copyBlock(placed.block)) }
    },
  }
}

function block(tables: MemoryTables, { organizationId, userId }: BlockKey): Aggregate<Block | undefined> {
  return {
    head: `organization ${organizationId}`,
    alive: [
      [`user ${userId}`, 'user'],
      [`organization ${organizationId}`, 'organization'],
    ],
    load() {
      const found = blocksOf(tables, organizationId).get(userId)
      return found === undefined ? undefined : copyBlock(found.block)
    },
    write(_before, after) {
      const blocks = tables.blocks.get(organizationId) ?? new Map<Id, PlacedBlock>()
      tables.blocks.set(organizationId, blocks)
      blocks.delete(userId) // a user who is blocked again comes last
      if (after !== undefined) blocks.set(userId, { place: tables.nextPlace(), block: copyBlock(after) })
    },
  }
}

function among(tables: MemoryTables, organizationId: Id, userIds: readonly Id[]): ReadonlySet<Id> {
  const blocks = blocksOf(tables, organizationId)
  return new Set(userIds.filter((userId) => blocks.has(userId)))
}

function blocksOf(tables: MemoryTables, organizationId: Id): ReadonlyMap<Id, PlacedBlock> {
  return tables.blocks.get(organizationId) ?? new Map()
}
