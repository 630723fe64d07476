// Changes pins, blocks and badges in a loop until it is killed. Each lane works on things of its own, one call after the
// other, the lanes at the same time. Before a call its lane says `> lane step`, after it `< lane outcome`: written with
// one system call to a file, so that what was said survives SIGKILL.
// Arguments: the SQLite file, and a number of three digits that no earlier run on the same file had.
import { writeSync } from 'node:fs'
import { openForge, owner } from './open-forge.mjs'

const [file, run] = process.argv.slice(2)
const forge = await openForge(file)

const perform = {
  pin: (step) => forge.pins.pin(owner, step.issue),
  unpin: (step) => forge.pins.unpin(owner, step.issue),
  move: (step) => forge.pins.move(owner, { issue: step.issue, position: step.position }),
  block: (step) => forge.blocks.block(owner, step),
  unblock: (step) => forge.blocks.unblock(owner, step),
  grant: (step) => forge.badges.grant(owner, { userId: step.userId, slugs: step.slugs }),
  revoke: (step) => forge.badges.revoke(owner, { userId: step.userId, slugs: step.slugs }),
  define: (step) => forge.badges.catalogue.define(owner, step),
  remove: (step) => forge.badges.catalogue.remove(owner, step.slug),
  issueDeleted: (step) => forge.lifecycle.issueDeleted(step.issue),
  userDeleted: (step) => forge.lifecycle.userDeleted(step.userId),
}

const lanes = {
  pins10: pinStep('10'),
  pins11: pinStep('11'),
  blocks20: blockStep('20'),
  blocks21: blockStep('21'),
  badges30: badgeStep('30'),
  badges31: badgeStep('31'),
  leaving: leavingStep(),
}

await Promise.all(Object.entries(lanes).map(([lane, next]) => work(lane, next)))

async function work(lane, next) {
  for (;;) {
    const step = next()
    say(`> ${lane} ${JSON.stringify(step)}`)
    const outcome = await perform[step.call](step).then(
      () => 'done',
      (error) => error.code ?? String(error),
    )
    say(`< ${lane} ${outcome}`)
  }
}

function say(line) {
  writeSync(1, `${line}\n`)
}

function pinStep(repositoryId) {
  let count = 0
  let leaving
  return () => {
    const dice = Math.random()
    if (dice < 0.9) return pinOrMove(repositoryId, dice)

    // an issue is deleted permanently, so it is one that no other run knows
    const issue = leaving ?? { id: `${repositoryId}1${run}${count++}`, repositoryId, kind: 'issue' }
    const call = leaving === undefined ? 'pin' : 'issueDeleted'
    leaving = leaving === undefined ? issue : undefined
    return { call, as: call === 'pin' ? 'owner' : 'system', issue }
  }
}

function pinOrMove(repositoryId, dice) {
  const pull = Math.random() < 0.4
  const id = `${repositoryId}${pull ? 2 : 1}${oneOf(0, 1, 2, 3, 4)}`
  const issue = { id, repositoryId, kind: pull ? 'pullRequest' : 'issue' }
  if (dice < 0.6) return { call: dice < 0.4 ? 'pin' : 'unpin', as: 'owner', issue }
  return { call: 'move', as: 'owner', issue, position: oneOf(1, 2, 3, 9) }
}

function blockStep(organizationId) {
  return () => {
    const account = { kind: 'user', id: String(oneOf(40, 41, 42, 43, 44, 45)) }
    return Math.random() < 0.6
      ? { call: 'block', as: 'owner', organizationId, account, note: oneOf(undefined, 'spam', '🐟') }
      : { call: 'unblock', as: 'owner', organizationId, account }
  }
}

function badgeStep(userId) {
  const slugs = ['a', 'b', 'c', 'd'].map((name) => `${name}-of-${userId}`)
  return () => {
    const dice = Math.random()
    if (dice < 0.2) return { call: 'define', as: 'owner', slug: oneOf(...slugs) }
    if (dice < 0.3) return { call: 'remove', as: 'owner', slug: oneOf(...slugs) }

    const some = slugs.filter(() => Math.random() < 0.5)
    return { call: dice < 0.7 ? 'grant' : 'revoke', as: 'owner', userId, slugs: some }
  }
}

/** A user who is blocked by two, gets badges, and is deleted: one change over many things. */
function leavingStep() {
  let turn = -1
  return () => {
    turn += 1
    const userId = `5${run}${Math.floor(turn / 6)}`
    const account = { kind: 'user', id: userId }
    const steps = [
      { call: 'define', as: 'owner', slug: 'e' },
      { call: 'define', as: 'owner', slug: 'f' },
      { call: 'block', as: 'owner', organizationId: '22', account },
      { call: 'block', as: 'owner', organizationId: '23', account },
      { call: 'grant', as: 'owner', userId, slugs: ['e', 'f'] },
      { call: 'userDeleted', as: 'system', userId },
    ]
    return steps[turn % 6]
  }
}

function oneOf(...choices) {
  return choices[Math.floor(Math.random() * choices.length)]
}
