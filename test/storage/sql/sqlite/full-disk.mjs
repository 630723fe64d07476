// A process on one file that can grow no further: it pins issues until a commit fails, and prints what it was answered.
// The shell that starts it limits the size of files (`ulimit -f`), so that a write fails as on a full disk; the built package.
import { sqliteStorage } from '../../../../dist/storage/sqlite.js'

const storage = sqliteStorage(process.argv[2] ?? '')
await storage.migrate()

function block(userId) {
  return storage.blocks.update(
    { organizationId: '1', userId },
    {
      by: { actorId: null, at: () => new Date(0) },
      decide: ({ epoch }) => ({
        state: {
          block: { organizationId: '1', userId, note: 'n'.repeat(255), blockedAt: new Date(0), blockedBy: null },
          epoch,
        },
        events: [],
        result: userId,
      }),
    },
  )
}

/** Changes at once: one batch. */
const BATCH = 16
const kept = []
let refused = []
for (let next = 1; refused.length === 0; next += BATCH) {
  const userIds = Array.from({ length: BATCH }, (_, n) => String(next + n))
  const outcomes = await Promise.allSettled(userIds.map(block))
  kept.push(...userIds.filter((_, n) => outcomes[n]?.status === 'fulfilled'))
  refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
}

const seen = await storage.blocks.page('1', { from: { page: 1 }, limit: 1000 })
const errors = refused.map(({ code, details, message }) => ({ code, details, message }))
process.stdout.write(`${JSON.stringify({ kept, errors, seen: seen.items.map((one) => one.userId) })}\n`)
