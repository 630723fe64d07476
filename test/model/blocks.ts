import fc from 'fast-check'
import type { AccountRef, Block } from '../../src/index.ts'
import type { Turn } from './forge-model.ts'
import { Refusal } from './forge-model.ts'
import type { Call, Step } from './step.ts'
import { drawn, organizationId, system, userId } from './step.ts'

const MAX_PAGES = 100

/** Whose blocks a step is about. */
type Blocker =
  | { readonly organizationId: string; readonly blockerId?: undefined }
  | { readonly blockerId: string; readonly organizationId?: undefined }
type Account = AccountRef & { readonly id: string }
type Target = Blocker & { readonly account: Account }
type Blockers = Blocker | { readonly organizationId: string; readonly blockerId: string }
type Page = { readonly page: number; readonly limit: number }

const block: Call<Target & { readonly note: string | undefined }> = {
  forge: ({ blocks }, caller, target) => blocks.block(caller, target),
  model(turn, target) {
    const { account, note = '', organizationId, blockerId } = target
    turn.check(concealed(target))
    if ([...note].length > 255 || /[\0\ud800]/u.test(note)) throw new Refusal('INVALID_INPUT', ['/note'])
    if (account.kind === 'organization') throw new Refusal('CANNOT_BLOCK_ORGANIZATION')
    if (account.id === turn.actorId || account.id === blockerId) throw new Refusal('CANNOT_BLOCK_SELF')
    refuseGone(turn, target, account.id)
    if (turn.model.members.has(`${organizationId}/${account.id}`)) throw new Refusal('CANNOT_BLOCK_MEMBER')
    if (blockOf(turn, target, account.id) !== undefined) throw new Refusal('ALREADY_BLOCKED')

    const rest = { userId: account.id, note, blockedAt: turn.now, blockedBy: turn.actorId }
    const added = blockerId === undefined ? { organizationId, ...rest } : { blockerId, ...rest }
    turn.model.blocksBy(target).push(added)
    report(turn, 'user.blocked', target, { note })
    return added
  },
}

const unblock: Call<Target> = {
  forge: ({ blocks }, caller, target) => blocks.unblock(caller, target),
  model(turn, target) {
    const { account } = target
    turn.check(concealed(target))
    if (account.kind === 'organization') throw new Refusal('CANNOT_BLOCK_ORGANIZATION')
    refuseGone(turn, target, account.id)
    const found = blockOf(turn, target, account.id)
    if (found === undefined) throw new Refusal('NOT_BLOCKED')

    const blocks = turn.model.blocksBy(target)
    blocks.splice(blocks.indexOf(found), 1)
    report(turn, 'user.unblocked', target, {})
    return undefined
  },
}

const find: Call<Blocker & { readonly userId: string }> = {
  forge: ({ blocks }, caller, asked) => blocks.find(caller, asked),
  model(turn, asked) {
    turn.check(concealed(asked))
    return blockOf(turn, asked, asked.userId)
  },
}

export const listBlocks: Call<Page & Blocker> = {
  forge: ({ blocks }, caller, page) => blocks.list(caller, page),
  model(turn, asked) {
    const { page, limit } = asked
    turn.check(concealed(asked))
    if (!Number.isInteger(page) || page < 1) throw new Refusal('INVALID_INPUT', ['/page'])
    if (!Number.isInteger(limit) || limit < 1 || limit > 1000) throw new Refusal('INVALID_INPUT', ['/limit'])
    refuseGone(turn, asked)
    const all = turn.model.blocksBy(asked)
    const [from, to] = [(page - 1) * limit, page * limit]
    return { items: all.slice(from, to), total: all.length, limit, more: to < all.length }
  },
}

/** Reads all pages, by their cursors. */
const walk: Call<Blocker & { readonly limit: number }> = {
  async forge({ blocks }, caller, asked) {
    const all: Block[] = []
    let after: string | undefined
    for (let pages = 0; pages < MAX_PAGES; pages += 1) {
      const { items, cursor } = await blocks.list(caller, { ...asked, after })
      all.push(...items)
      if (cursor === undefined) return all
      after = cursor
    }
    throw new RangeError('the walk over the blocks does not end')
  },
  model(turn, asked) {
    refuseGone(turn, asked)
    return [...turn.model.blocksBy(asked)]
  },
}

export const filterBlocked: Call<Blockers & { readonly userIds: readonly string[] }> = {
  forge: ({ blocks }, _caller, asked) => blocks.filterBlocked(asked),
  model: (turn, { userIds, ...blockers }) =>
    [...new Set(userIds)].filter((one) => blocking(turn, blockers, one).length > 0).sort(),
}

const refuse: Call<Blockers & { readonly userId: string }> = {
  forge: ({ blocks }, _caller, asked) => blocks.refuseBlocked(asked),
  model(turn, asked) {
    const found = blocking(turn, asked, asked.userId)
    if (found.length > 0) throw new Refusal('BLOCKED', Object.assign({}, ...found))
    return undefined
  },
}

/** Those of the organization and the user who block a user. */
function blocking(
  turn: Turn,
  { organizationId, blockerId }: Pick<Block, 'organizationId' | 'blockerId'>,
  userId: string,
): readonly Pick<Block, 'organizationId' | 'blockerId'>[] {
  const all = [
    ...(organizationId === undefined ? [] : [{ organizationId }]),
    ...(blockerId === undefined ? [] : [{ blockerId }]),
  ]
  return all.filter((one) => blockOf(turn, one, userId) !== undefined)
}

function concealed({ blockerId }: Blocker): 'ORGANIZATION_NOT_FOUND' | 'USER_NOT_FOUND' {
  return blockerId === undefined ? 'ORGANIZATION_NOT_FOUND' : 'USER_NOT_FOUND'
}

function report(turn: Turn, type: string, { organizationId, blockerId, account }: Target, data: object): void {
  const subject = { userId: account.id }
  if (organizationId !== undefined) turn.report(type, data, { organizationId, ...subject })
  else turn.report(type, { ...data, blockerId }, subject)
}

/** Refuses a user, then who blocks, that is gone. */
export function refuseGone(turn: Turn, { organizationId, blockerId }: Blocker, userId?: string): void {
  const { gone } = turn.model
  if (gone.has(`user ${userId}`) || gone.has(`user ${blockerId}`)) throw new Refusal('USER_NOT_FOUND')
  if (gone.has(`organization ${organizationId}`)) throw new Refusal('ORGANIZATION_NOT_FOUND')
}

/** The block of a user by an organization or a user. */
export function blockOf(
  turn: Turn,
  blocker: Pick<Block, 'organizationId' | 'blockerId'>,
  userId: string,
): Block | undefined {
  return turn.model.blocksBy(blocker).find((one) => one.userId === userId)
}

const number = fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 1, max: 5 }) }, fc.constantFrom(0, -1, 1.5, 1001))
const limit = fc.integer({ min: 1, max: 3 })
const note = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(undefined, '', 'spam', '🦉'.repeat(255)) },
  fc.constantFrom('🦉'.repeat(256), 'a\0b', '\ud800'),
)
const account: fc.Arbitrary<Account> = fc.oneof(
  { weight: 15, arbitrary: fc.record({ kind: fc.constant('user' as const), id: userId }) },
  fc.record({ kind: fc.constant('organization' as const), id: organizationId }),
)
const ofOne: fc.Arbitrary<Blocker> = fc.oneof(fc.record({ organizationId }), fc.record({ blockerId: userId }))
const ofSome: fc.Arbitrary<Blockers> = fc.oneof(ofOne, fc.record({ organizationId, blockerId: userId }))

/** An input about blocks: whose, and what else. */
function about<B, T>(blocker: fc.Arbitrary<B>, more: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<B & T> {
  return fc.tuple(blocker, fc.record<T>(more)).map(([whose, rest]) => ({ ...whose, ...rest }))
}

export const blockSteps: readonly fc.WeightedArbitrary<Step>[] = [
  drawn(10, ['block', block], about(ofOne, { account, note })),
  drawn(5, ['unblock', unblock], about(ofOne, { account })),
  drawn(1, ['find', find], about(ofOne, { userId })),
  drawn(1, ['list', listBlocks], about(ofOne, { page: number, limit: number })),
  drawn(1, ['walk', walk], about(ofOne, { limit }), system),
  drawn(1, ['filterBlocked', filterBlocked], about(ofSome, { userIds: fc.array(userId) })),
  drawn(1, ['refuseBlocked', refuse], about(ofSome, { userId })),
]
