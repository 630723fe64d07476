import assert from 'node:assert/strict'
import type { Id } from '../../../index.ts'
import { blockUser } from '../../../index.ts'
import type { BlockKey, BlockState, ForgeStorage } from '../../../storage/storage.ts'
import { BOARD, issuesOn, moveToFront, pin, unpin } from '../samples/pin-boards.ts'
import type { Draw, Extras } from '../samples/sample.ts'
import { about, change } from '../samples/sample.ts'
import type { CaseHost, HostRows, StorageCase } from './storage-case.ts'
import { hostCase, outcomeOf } from './storage-case.ts'

/** How a host may begin a transaction. */
export const LEVELS = ['begin', 'beginSnapshot', 'beginReadCommitted'] as const

/** What a case does with a storage and the rows of the host. */
export type Check = <Tx>(storage: ForgeStorage<Tx>, rows: HostRows<Tx>, bench: CaseHost<Tx>) => Promise<void>

/** A case of storages that know the tables of the host. */
export function tableCase(name: string, check: Check, needs: StorageCase['needs'] = []): StorageCase {
  return hostCase(name, ['tables', ...needs], (storage, bench) => check(storage, bench.rows, bench))
}

/** Checks that a call is refused, for whatever reason. */
export async function rejects(call: Promise<unknown>): Promise<void> {
  assert.ok('thrown' in (await outcomeOf(() => call)), 'refused, but it answered')
}

/** Checks what is on the board, and each position. */
export async function expectBoard<Tx>(storage: ForgeStorage<Tx>, issueIds: readonly Id[]): Promise<void> {
  assert.deepEqual(await issuesOn(storage, BOARD), issueIds)
  const positions = await storage.pinBoards.positions(issueIds.map((issueId) => ({ issueId, ...BOARD })))
  assert.deepEqual(
    positions,
    [...issueIds.keys()].map((index) => index + 1),
  )
}

/** Blocks a user who is no member, as far as the storage sees. */
export async function blockOutsider<Tx>(
  storage: ForgeStorage<Tx>,
  key: BlockKey,
  extras: Extras<Tx> = {},
): Promise<void> {
  const decide = (before: BlockState, at: Date) => {
    const blocked = { ...key, note: '', blockedAt: at, blockedBy: null }
    const { state, ...decided } = blockUser(before.block, blocked, before.isMember === true)
    return about(key, { state: { ...before, block: state }, ...decided })
  }
  await change(storage.blocks, key, decide, extras)
}

/** Changes a board, and deletes and hides issues, as it is drawn. A list has what must be there. */
export async function compareBoards<Tx>(
  storage: ForgeStorage<Tx>,
  rows: HostRows<Tx>,
  draw: Draw,
  { hides }: { readonly hides: boolean },
): Promise<void> {
  const limit = 5
  const hidden = new Set<Id>()
  let pinned: readonly Id[] = []
  const shown = () => pinned.filter((id) => !hidden.has(id))
  const acts = ['pin', 'pin', 'pin', 'unpin', 'move', 'remove', ...(hides ? ['hide', 'show', 'show'] : [])]
  for (let step = 0; step < 60; step += 1) {
    const [act, id] = [acts[draw.below(acts.length)], String(1 + draw.below(8))]
    const isShown = shown().includes(id)
    if (act === 'pin' && !hidden.has(id) && !isShown && shown().length < limit) {
      await pin(storage, BOARD, id, { limit })
      pinned = [...pinned, id]
    } else if (act === 'unpin' && isShown) {
      await unpin(storage, BOARD, id)
      pinned = pinned.filter((one) => one !== id)
    } else if (act === 'move' && isShown) {
      await moveToFront(storage, BOARD, id)
      pinned = movedToFront(pinned, id, hidden)
    } else if (act === 'remove') {
      await rows.remove('issue', id)
      await rows.create('issue', id)
      hidden.delete(id)
      pinned = pinned.filter((one) => one !== id)
    } else if (act === 'hide' || act === 'show') {
      await rows.hide('issue', { id, isHidden: act === 'hide' })
      if (act === 'hide') hidden.add(id)
      else hidden.delete(id)
    }
    await expectBoard(storage, shown())
  }
}

/** Those at the front that are hidden stay there. */
function movedToFront(pinned: readonly Id[], id: Id, hidden: ReadonlySet<Id>): readonly Id[] {
  const others = pinned.filter((one) => one !== id)
  const front = pinned.findIndex((one) => !hidden.has(one))
  return [...others.slice(0, front), id, ...others.slice(front)]
}
