// Does a call cost the same however many rows there are? Every database has the tables of a forge with 1,000, 10,000, 100,000 and
// 1,000,000 rows, and the same calls take turns on all of them. What counts is the time of a call, as a ratio to 1,000 rows.
import { strictEqual } from 'node:assert'
import { createForge } from 'forgelet'
import { onEachDatabase } from './databases.mjs'
import { callSide, calmFifth, interleave } from './harness.mjs'

const SIZES = [1000, 10_000, 100_000, 1_000_000]
const LIMIT = 30
const ORGANIZATION = 7
const REPOSITORY = 9

/** Each call gets the forge, its number of rows, a cursor in the middle, and n. */
const CALLS = {
  'find a block': {
    count: 50,
    run: ({ forge, size }, n) =>
      forge.blocks.find('system', { organizationId: ORGANIZATION, userId: 1 + ((n * 7919) % size) }),
  },
  'pinned list': {
    count: 50,
    run: ({ forge }) => forge.pins.list('system', { repositoryId: REPOSITORY, kind: 'issue' }),
  },
  'first page of blocks': { count: 10, run: ({ page }) => page({ page: 1 }) },
  'page after a cursor': { count: 10, run: ({ page, cursor }) => page({ after: cursor }) },
  'page in the middle, by number': { count: 1, run: ({ page, middle }) => page({ page: middle }) },
  'audit page': {
    count: 1,
    run: ({ forge }) => forge.events.list({ organizationId: ORGANIZATION }, { limit: LIMIT }),
  },
}

/** Measures the growth of each call on each database: `[{ database, sizes, calls: [{ call, ratios }] }]`. */
export function measure({ slices }) {
  return onEachDatabase(async (database) => {
    const forges = []
    for (const size of SIZES) forges.push(await openFilled(database, size))

    const sides = {}
    for (const [call, { count, run }] of Object.entries(CALLS)) {
      for (const filled of forges) {
        sides[`${call}, ${filled.size}`] = callSide((n) => run(filled, n), { count, warmUp: 4 + count * count })
      }
    }
    const measured = await interleave(sides, { slices: Math.ceil(slices / 2) })
    for (const { storage } of forges) await storage.close()

    const calls = Object.keys(CALLS).map((call) => {
      const costs = SIZES.map((size) => calmFifth(measured[`${call}, ${size}`], 'wall'))
      return { call, ratios: costs.map((cost) => cost / costs[0]) }
    })
    return { database: database.name, sizes: SIZES, calls }
  })
}

async function openFilled(database, size) {
  const prefix = `g${size}_`
  const storage = database.storage({ prefix })
  await storage.migrate()
  const forge = createForge({
    storage,
    policy: { authorize: () => ({ allow: true }) },
    membership: { isMember: () => false },
  })
  await forge.pins.pin('system', { id: 1, repositoryId: REPOSITORY, kind: 'issue' })
  await forge.blocks.block('system', { organizationId: ORGANIZATION, account: { kind: 'user', id: size } })
  for (const sql of fillings(database, prefix, size - 1)) await database.run(sql)

  const page = (request) => forge.blocks.list('system', { organizationId: ORGANIZATION, limit: LIMIT, ...request })
  const last = Math.ceil(size / LIMIT)
  const middle = Math.round(last / 2)
  const { total, items, cursor } = await page({ page: middle })
  strictEqual(total, size)
  strictEqual(items.length, LIMIT)
  strictEqual((await forge.events.list({ organizationId: ORGANIZATION }, { limit: LIMIT })).items.length, LIMIT)
  strictEqual((await forge.pins.list('system', { repositoryId: REPOSITORY, kind: 'issue' })).length, 1)
  return { forge, storage, size, page, middle, cursor }
}

/** The statements that write the rows: blocks of one organization, pins on other boards, and events of the organization. */
function fillings({ quote, series, numbersEvents, analyze }, prefix, rows) {
  const table = (name) => `${quote}${prefix}${name}${quote}`
  const [position, place] = numbersEvents ? ['', ''] : ['position, ', 'n, ']
  const numbered = numbersEvents ? [] : [`update ${table('outbox')} set last_position = ${rows}`]
  return [
    `insert into ${table('organization_blocks')} (organization_id, user_id, seq, note, blocked_at, blocked_by)
     select ${ORGANIZATION}, n, n + 1, '', 1700000000000 + n, null from ${series(rows)}`,
    `update ${table('heads')} set total = total + ${rows}, next_seq = next_seq + ${rows} where scope = 'organization'`,
    `insert into ${table('board_pins')} (repository_id, kind, position, issue_id, pinned_at, pinned_by)
     select 1000 + n, 'issue', 1, 1000 + n, 1700000000000, null from ${series(rows)}`,
    `insert into ${table('events')} (${position}type, version, at, actor_id, organization_id, user_id, data)
     select ${place}'user.blocked', 1, 1700000000000 + n, null, ${ORGANIZATION}, n, '{"note":""}' from ${series(rows)}`,
    ...numbered,
    ...['organization_blocks', 'board_pins', 'events'].map((name) => `${analyze} ${table(name)}`),
  ]
}
