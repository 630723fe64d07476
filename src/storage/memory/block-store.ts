import type { Id } from '../../schema/ids.ts'
import type { Block } from '../../schema/records.ts'
import type { BlockKey, BlockStore } from '../contract/block-store.ts'
import { copyBlock } from './copies.ts'
import type { MemoryTables, PlacedBlock } from './memory-tables.ts'
import { cutPage } from './pages.ts'
import type { Aggregate } from './update-aggregate.ts'
import { refuseRetired, updateAggregate } from './update-aggregate.ts'

/** The blocks of a memory storage. */
export function memoryBlocks(tables: MemoryTables): BlockStore<undefined> {
  return {
    epoch: ({ organizationId }) => tables.head(`organization ${organizationId}`).epoch,
    update: (key, change) => updateAggregate(tables, block(tables, key), change),
    find: (key) => block(tables, key).load(),
    among: (organizationId, userIds) => among(tables, organizationId, userIds),
    page(organizationId, query) {
      refuseRetired(tables, [[`organization ${organizationId}`, 'organization']])
      const page = cutPage(blocksOf(tables, organizationId), (placed) => placed.place, query)
      return { ...page, items: page.items.map((placed) => copyBlock(placed.block)) }
    },
  }
}

function block(tables: MemoryTables, { organizationId, userId }: BlockKey): Aggregate<Block | undefined> {
  const others = (): readonly PlacedBlock[] =>
    blocksOf(tables, organizationId).filter((placed) => placed.block.userId !== userId)

  return {
    head: `organization ${organizationId}`,
    alive: [
      [`user ${userId}`, 'user'],
      [`organization ${organizationId}`, 'organization'],
    ],
    load() {
      const found = blocksOf(tables, organizationId).find((placed) => placed.block.userId === userId)
      return found === undefined ? undefined : copyBlock(found.block)
    },
    write(_before, after) {
      const added = after === undefined ? [] : [{ place: tables.nextPlace(), block: copyBlock(after) }]
      tables.blocks.set(organizationId, [...others(), ...added])
    },
  }
}

function among(tables: MemoryTables, organizationId: Id, userIds: readonly Id[]): ReadonlySet<Id> {
  const blocked = new Set(blocksOf(tables, organizationId).map((placed) => placed.block.userId))
  return new Set(userIds.filter((userId) => blocked.has(userId)))
}

function blocksOf(tables: MemoryTables, organizationId: Id): readonly PlacedBlock[] {
  return tables.blocks.get(organizationId) ?? []
}
