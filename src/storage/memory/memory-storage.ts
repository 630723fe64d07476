import type { ForgeEvent } from '../../schema/records.ts'
import type { ForgeStorage, Retired, Retirement } from '../contract/storage.ts'
import { memoryAggregates } from './aggregates.ts'
import { memoryEvents } from './events.ts'
import type { KeptBlock, KeptGrant, KeptPin, ThingName } from './tables.ts'
import { Memory } from './tables.ts'

/** Creates a storage on plain lists in memory: the reference that the other storages are compared with. */
export function createMemoryStorage(): ForgeStorage<undefined> {
  const memory = new Memory()

  return {
    ...memoryAggregates(memory),
    events: memoryEvents(memory),
    retire: (retirement) => retire(memory, retirement),
    transactions: 'none',
    checkTransaction() {
      throw new TypeError('memory storage has no transactions')
    },
    migrate: async () => undefined,
    schemaStatus: async () => ({ state: 'current', warnings: [] }),
    close: async () => memory.close(),
  }
}

/** Retires one thing of the host, with all rows that belong to it. Nothing happens if it is retired already. */
function retire(memory: Memory, retirement: Retirement<undefined>): readonly ForgeEvent[] {
  const { by, record, retired } = retirement
  const { tables } = memory
  const name = nameOf(retired)
  if (tables.retired.has(name)) return []

  const goes = rowsOf(retired)
  const removed = {
    pins: tables.pins.filter(goes.pin).length,
    blocks: tables.blocks.filter(goes.block).length,
    grants: tables.grants.filter(goes.grant).length,
  }
  return memory.commit([record(removed)], by.at(), retirement, () => {
    tables.pins = tables.pins.filter((pin) => !goes.pin(pin))
    tables.blocks = tables.blocks.filter((block) => !goes.block(block))
    tables.grants = tables.grants.filter((grant) => !goes.grant(grant))
    tables.retired.add(name)
  })
}

/** What tells the rows that go with a thing from the others. */
interface RowsOfThing {
  pin(pin: KeptPin): boolean
  block(block: KeptBlock): boolean
  grant(grant: KeptGrant): boolean
}

const NONE: RowsOfThing = { pin: () => false, block: () => false, grant: () => false }

/** An issue goes from every board that has it, because a transfer to another repository needs no call. */
function rowsOf(retired: Retired): RowsOfThing {
  switch (retired.thing) {
    case 'user': {
      const isOfUser = ({ userId }: KeptBlock | KeptGrant): boolean => userId === retired.userId
      return { ...NONE, block: isOfUser, grant: isOfUser }
    }
    case 'organization':
      return { ...NONE, block: ({ organizationId }) => organizationId === retired.organizationId }
    case 'repository':
      return { ...NONE, pin: ({ repositoryId }) => repositoryId === retired.repositoryId }
    case 'issue':
      return { ...NONE, pin: ({ issueId, kind }) => issueId === retired.issueId && kind === retired.kind }
    default:
      return retired satisfies never
  }
}

function nameOf(retired: Retired): ThingName {
  switch (retired.thing) {
    case 'user':
      return `user ${retired.userId}`
    case 'organization':
      return `organization ${retired.organizationId}`
    case 'repository':
      return `repository ${retired.repositoryId}`
    case 'issue':
      return `issue ${retired.issueId}`
    default:
      return retired satisfies never
  }
}
