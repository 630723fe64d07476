import fc from 'fast-check'
import { blockOf, refuseGone } from './blocks.ts'
import type { Turn } from './forge-model.ts'
import { Refusal } from './forge-model.ts'
import type { Call, Step } from './step.ts'
import { drawn, organizationId, system, userId } from './step.ts'

type Member = { readonly organizationId: string; readonly userId: string }

const userDeleted: Call<string> = {
  forge: ({ lifecycle }, _caller, userId) => lifecycle.userDeleted(userId),
  model(turn, userId) {
    if (!leaves(turn, `user ${userId}`)) return undefined

    let blocks = turn.model.blocksBy({ blockerId: userId }).splice(0).length
    for (const list of turn.model.allBlocks()) {
      const found = list.findIndex((one) => one.userId === userId)
      if (found >= 0) blocks += list.splice(found, 1).length
    }
    turn.report('user.deleted', { blocks, grants: 0 }, { userId })
    return undefined
  },
}

const organizationDeleted: Call<string> = {
  forge: ({ lifecycle }, _caller, organizationId) => lifecycle.organizationDeleted(organizationId),
  model(turn, organizationId) {
    if (!leaves(turn, `organization ${organizationId}`)) return undefined

    const blocks = turn.model.blocksBy({ organizationId }).splice(0).length
    turn.report('organization.deleted', { blocks }, { organizationId })
    return undefined
  },
}

const memberAdded: Call<Member> = {
  async forge({ lifecycle, members }, _caller, member) {
    await lifecycle.memberAdded(member)
    members.add(`${member.organizationId}/${member.userId}`)
  },
  model(turn, { organizationId, userId }) {
    refuseGone(turn, { organizationId }, userId)
    if (blockOf(turn, { organizationId }, userId) !== undefined) throw new Refusal('ALREADY_BLOCKED')

    turn.model.members.add(`${organizationId}/${userId}`)
    return undefined
  },
}

const memberRemoved: Call<Member> = {
  forge: ({ members }, _caller, { organizationId, userId }) => void members.delete(`${organizationId}/${userId}`),
  model: (turn, { organizationId, userId }) => void turn.model.members.delete(`${organizationId}/${userId}`),
}

/** Remembers what is gone; false when it was gone before. */
function leaves(turn: Turn, thing: string): boolean {
  if (turn.model.gone.has(thing)) return false
  turn.model.gone.add(thing)
  return true
}

const member = fc.record({ organizationId, userId })

export const memberSteps: readonly fc.WeightedArbitrary<Step>[] = [
  drawn(2, ['memberAdded', memberAdded], member, system),
  drawn(1, ['memberRemoved', memberRemoved], member, system),
]

/** What cannot be undone, and comes seldom. */
export const farewellSteps: readonly fc.WeightedArbitrary<Step>[] = [
  drawn(1, ['userDeleted', userDeleted], userId, system),
  drawn(1, ['organizationDeleted', organizationDeleted], organizationId, system),
]
