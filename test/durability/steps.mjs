// The changes that the writers make, in lanes: each lane works on things of its own, one change after the other. Its number
// determines a change, so the same changes can be made on another forge.

/** The ports and limits of the forges. */
export const PORTS = {
  policy: { authorize: () => ({ allow: true }) },
  membership: { isMember: () => false },
  limits: { maxPins: { issue: 3, pullRequest: 2 } },
}

const STEPS = {
  pins: pinStep,
  blocks: blockStep,
  badges: badgeStep,
  leaving: leavingStep,
}

/** What a lane does, and the id of what it works on, which is also the id of the user who does it. */
export const LANES = ['pins 10', 'pins 11', 'blocks 20', 'blocks 21', 'badges 30', 'badges 31', 'leaving 40']

/** Makes change number `n` of a lane; returns "done", or the code of the refusal. */
export async function step(forge, lane, n) {
  const [kind, id] = lane.split(' ')
  try {
    await STEPS[kind](forge, { id }, n)
    return 'done'
  } catch (error) {
    return error.code ?? String(error)
  }
}

/** A number below `most` that looks random. */
function pick(n, most) {
  return Math.floor((Math.abs(Math.sin(n + 1) * 1e4) % 1) * most)
}

function pinStep({ pins, lifecycle }, owner, n) {
  const repositoryId = owner.id
  // A deleted issue never comes back, so it is a new one each time.
  const passing = { id: `${repositoryId}9${Math.floor(n / 10)}`, repositoryId, kind: 'issue' }
  if (n % 10 === 8) return pins.pin(owner, passing)
  if (n % 10 === 9) return lifecycle.issueDeleted(passing)

  const kind = pick(n, 5) < 2 ? 'pullRequest' : 'issue'
  const issue = { id: `${repositoryId}${kind === 'issue' ? 1 : 2}${pick(n + 0.3, 5)}`, repositoryId, kind }
  const dice = pick(n + 0.6, 10)
  if (dice < 4) return pins.pin(owner, issue)
  if (dice < 6) return pins.unpin(owner, issue)
  return pins.move(owner, { issue, position: [1, 2, 3, 9][pick(n + 0.9, 4)] })
}

function blockStep({ blocks }, owner, n) {
  const change = { organizationId: owner.id, account: { kind: 'user', id: String(50 + pick(n, 6)) } }
  if (pick(n + 0.5, 5) < 2) return blocks.unblock(owner, change)
  return blocks.block(owner, { ...change, note: [undefined, 'spam', '🐟'][n % 3] })
}

function badgeStep({ badges }, owner, n) {
  const userId = owner.id
  const slugs = ['a', 'b', 'c', 'd'].map((name) => `${name}-of-${userId}`)
  const dice = pick(n, 10)
  const slug = slugs[pick(n + 0.3, 4)]
  if (dice < 2) return badges.catalogue.define(owner, { slug })
  if (dice < 3) return badges.catalogue.remove(owner, slug)

  const some = slugs.filter((_, at) => pick(n + at / 10, 2) === 1)
  return dice < 7 ? badges.grant(owner, { userId, slugs: some }) : badges.revoke(owner, { userId, slugs: some })
}

/** A user who is blocked by two organizations, gets badges, and is deleted: one change of many things. */
function leavingStep({ badges, blocks, lifecycle }, owner, n) {
  const userId = `7${Math.floor(n / 6)}`
  const account = { kind: 'user', id: userId }
  const steps = [
    () => badges.catalogue.define(owner, { slug: 'e' }),
    () => badges.catalogue.define(owner, { slug: 'f' }),
    () => blocks.block(owner, { organizationId: '41', account }),
    () => blocks.block(owner, { organizationId: '42', account }),
    () => badges.grant(owner, { userId, slugs: ['e', 'f'] }),
    () => lifecycle.userDeleted(userId),
  ]
  return steps[n % steps.length]()
}
