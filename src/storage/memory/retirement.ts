import type { ForgeEvent, PinKind } from '../../schema/records.ts'
import type { Removed, Retired, Retirement } from '../contract/storage.ts'
import { append, complete } from './aggregate.ts'
import type { HeadKey, MemoryTables } from './memory-tables.ts'
import { boardHead, importsHead } from './memory-tables.ts'

const NOTHING: Removed = { pins: 0, blocks: 0, grants: 0 }

/** What one store removes with one retired thing. */
export interface Removal {
  /** How many rows it removes. A count that is left out is 0. */
  readonly removed: Partial<Removed>
  write(): void
}

/** What one store removes with each kind of thing. A new store does not compile until it says so for all of them. */
export type Removals = {
  readonly [T in Retired['thing']]: (retired: Extract<Retired, { readonly thing: T }>) => Removal
}

/** One store, and what it removes. */
export interface MemoryStore<Store> {
  readonly store: Store
  readonly removals: Removals
}

/** The removal of a store that has nothing of a thing. */
export const keepAll = (): Removal => ({ removed: {}, write: () => undefined })

const PIN_KINDS: readonly PinKind[] = ['issue', 'pullRequest']

/** Retires one thing of the host in a memory storage. Nothing happens if it is retired already. */
export function retire(
  tables: MemoryTables,
  stores: readonly Pick<MemoryStore<unknown>, 'removals'>[],
  retirement: Retirement<undefined>,
): readonly ForgeEvent[] {
  const { by, record, retired } = retirement
  if (isRetired(tables, retired)) return []

  const parts = stores.map(({ removals }) => removalOf(removals, retired))
  const removed: Removed = Object.assign({ ...NOTHING }, ...parts.map((part) => part.removed))
  const events = complete(tables, [record(removed)], by.actorId, by.at())
  return append(tables, events, retirement, () => {
    for (const part of parts) part.write()
    markRetired(tables, retired)
  })
}

function removalOf(removals: Removals, retired: Retired): Removal {
  switch (retired.thing) {
    case 'user':
      return removals.user(retired)
    case 'organization':
      return removals.organization(retired)
    case 'repository':
      return removals.repository(retired)
    case 'issue':
      return removals.issue(retired)
    default:
      return retired satisfies never
  }
}

function isRetired(tables: MemoryTables, retired: Retired): boolean {
  if (retired.thing === 'issue') return tables.retiredIssues.has(retired.issueId)
  return headsOf(retired).every((head) => tables.head(head).retired)
}

function markRetired(tables: MemoryTables, retired: Retired): void {
  if (retired.thing === 'issue') tables.retiredIssues.add(retired.issueId)
  else for (const head of headsOf(retired)) tables.retire(head)
}

/** The heads that represent a thing. They exist whether or not a store has rows of the thing. */
function headsOf(retired: Exclude<Retired, { readonly thing: 'issue' }>): readonly HeadKey[] {
  switch (retired.thing) {
    case 'user':
      return [`user ${retired.userId}`]
    case 'organization':
      return [`organization ${retired.organizationId}`]
    case 'repository':
      return [...PIN_KINDS.map((kind) => boardHead({ repositoryId: retired.repositoryId, kind })), importsHead(retired)]
    default:
      return retired satisfies never
  }
}
