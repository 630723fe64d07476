// One side of the race for totals: on each command it writes events in transactions that end in another order than they began,
// some of them by a rollback, reads the outbox, prunes, and reads pages of the audit view meanwhile. It says how many pages it
// read, and which of them counted other events than they listed.
// Arguments: postgres or mysql; an address; a digit that no other side has.
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { createForge } from '../../dist/index.js'

const [kind, at, side] = process.argv.slice(2)
const { [`${kind}Storage`]: open } = await import(`../../dist/storage/${kind}.js`)

const WRITERS = [1, 2, 3, 4, 5, 6]
const CHANGES = 6
const OWNER = { id: side }
const FILTERS = [
  {},
  { actorId: side },
  { types: ['issue.pinned'] },
  { repositoryId: `${side}1`, types: ['issue.pinned'] },
]
const ROLLED_BACK = new Error('rolled back')

const storage = open(at)
const forge = createForge({
  storage,
  policy: { authorize: () => ({ allow: true }) },
  membership: { isMember: () => false },
  limits: { maxPins: { issue: 1000 } },
  async beforeCommit() {
    await pause(Math.random() * 30)
    if (Math.random() < 0.2) throw ROLLED_BACK
  },
})
process.stdout.write('ready\n')

let changes = 0
for await (const line of createInterface({ input: process.stdin })) {
  let [writing, pages, wrong] = [true, 0, []]
  const written = Promise.all([...WRITERS.map(write), consume(), prune()]).finally(() => {
    writing = false
  })
  do {
    for (const filter of FILTERS) {
      const page = await unlessBusy(() => storage.events.list(filter, { from: { page: 1 }, limit: 100_000 }))
      if (page === undefined) continue
      pages += 1
      if (page.total !== page.items.length) wrong.push({ filter, total: page.total, listed: page.items.length })
    }
  } while (writing)
  await written
  process.stdout.write(`${JSON.stringify({ line, pages, wrong })}\n`)
}
await forge.close()

/** Pins issues on a board of its own, and deletes every other of them, so that a prune removes it. */
async function write(writer) {
  for (let each = 0; each < CHANGES; each += 1) {
    changes += 1
    const issue = { id: `${side}${writer}${10_000 + changes}`, repositoryId: `${side}${writer}`, kind: 'issue' }
    await unlessBusy(() => forge.pins.pin(OWNER, issue))
    if (each % 2 === 0) await unlessBusy(() => forge.lifecycle.issueDeleted(issue))
  }
}

async function consume() {
  for (let each = 0; each < CHANGES; each += 1) {
    await pause(Math.random() * 40)
    await unlessBusy(() => storage.events.read({ after: undefined, limit: 1 }))
  }
}

async function prune() {
  await pause(Math.random() * 200)
  await unlessBusy(() => storage.events.prune(new Date(Date.now() + 1000)))
}

/** Returns undefined if the change was rolled back, or the storage was busy for too long. */
async function unlessBusy(call) {
  try {
    return await call()
  } catch (error) {
    if (error !== ROLLED_BACK && error.code !== 'STORAGE_BUSY') throw error
    return undefined
  }
}
