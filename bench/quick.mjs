// What no noise touches, for `npm run bench -- --quick`: bytes of garbage, numbers of statements, files that an import loads, and
// warnings of Node. Each has its bound here; a change that needs less lowers the bound.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createForge } from 'forgelet'
import { onEachDatabase } from './databases.mjs'
import { checkSide, withServers } from './http.mjs'

const ROOT = join(import.meta.dirname, '..')

/** Garbage of a block check over HTTP, in bytes, beyond that of a server by hand. */
const MAX_GARBAGE = 4096

/** Statements of a call, BEGIN, COMMIT and limits included. A compound statement of MariaDB is one. */
const MAX_STATEMENTS = {
  'blocks.find': { SQLite: 1, PostgreSQL: 1, MariaDB: 1 },
  'pins.list': { SQLite: 1, PostgreSQL: 1, MariaDB: 1 },
  'blocks.list, 30': { SQLite: 1, PostgreSQL: 1, MariaDB: 1 },
  'badges.heldBy': { SQLite: 1, PostgreSQL: 1, MariaDB: 1 },
  'events.list, 30': { SQLite: 4, PostgreSQL: 8, MariaDB: 3 },
  'pins.pin': { SQLite: 11, PostgreSQL: 13, MariaDB: 3 },
  'blocks.block': { SQLite: 11, PostgreSQL: 14, MariaDB: 4 },
  'badges.grant': { SQLite: 12, PostgreSQL: 14, MariaDB: 3 },
}

/** The sources that an import runs. Anything else makes a cold start slower: a database, the other routes, a package. */
const MAX_LOADED = {
  forgelet: /^src\/(core|schema)\/(?!documents)/,
  'forgelet/http': /^src\/(http-adapters\/routes|schema)\/(?!documents)/,
  'forgelet/node': /^src\/(http-adapters\/(routes|node)|http-adapters|schema)\/(?!documents|fetch)/,
  'forgelet/express': /^src\/(http-adapters\/(routes|node)|http-adapters|schema)\/(?!documents|fetch)/,
  'forgelet/fetch': /^src\/(http-adapters\/(routes|fetch)|http-adapters|schema)\/(?!documents|node)/,
  'forgelet/storage/memory': /^src\/(storage|schema)\/(?!documents|sql)/,
  'forgelet/storage/sqlite': /^(src\/(storage\/sql|storage|schema)\/(?!documents|memory)|node_modules\/kysely\/)/,
  'forgelet/storage/postgres': /^(src\/(storage\/sql|storage|schema)\/(?!documents|memory)|node_modules\/kysely\/)/,
  'forgelet/storage/mysql': /^(src\/(storage\/sql|storage|schema)\/(?!documents|memory)|node_modules\/kysely\/)/,
}

/** Checks everything, prints what it found, and returns whether all of it is within its bounds. */
export async function check() {
  const warnings = []
  process.on('warning', (warning) => warnings.push(String(warning)))
  const findings = [...(await checkGarbage()), ...(await checkStatements()), ...checkImports()]
  findings.push({ what: 'warnings of Node in this process', found: warnings.length, bound: 0, detail: warnings })

  for (const { what, found, bound, detail = [] } of findings) {
    console.log(`${found <= bound ? 'ok   ' : 'FAIL '} ${what}: ${found} (at most ${bound})`)
    if (found > bound) for (const line of detail) console.log(`        ${line}`)
  }
  return findings.every(({ found, bound }) => found <= bound)
}

/** Young generations large enough that nothing is collected while a window is measured. */
const NO_COLLECTION = ['--min-semi-space-size=128', '--max-semi-space-size=128']
const WINDOWS = 5
const REQUESTS = 2000

function checkGarbage() {
  return withServers(async (start) => {
    const [ours, byHand] = [
      await garbageOf(await start('node', NO_COLLECTION)),
      await garbageOf(await start('node by hand', NO_COLLECTION)),
    ]
    return [
      {
        what: 'garbage of a block check, in bytes, beyond that of a server by hand',
        found: Math.round(ours.bytes - byHand.bytes),
        bound: MAX_GARBAGE,
      },
      { what: 'warnings of Node in a server', found: ours.warnings.length, bound: 0, detail: ours.warnings },
    ]
  })
}

/** The median of some windows: in one of them the garbage may have been collected. */
async function garbageOf(server) {
  const side = checkSide(server, { count: REQUESTS, warmUp: 20_000 })
  await side.warmUp()
  const windows = []
  for (let window = 0; window < WINDOWS; window += 1) {
    const before = await server.report()
    await side.slice()
    const after = await server.report()
    windows.push((after.heap - before.heap) / REQUESTS)
  }
  side.end()
  const { warnings } = await server.report()
  return { bytes: windows.sort((one, other) => one - other)[WINDOWS >> 1], warnings }
}

/** Each call is made several times with another number, and the median counts: the first time limits are sent, or numbers given. */
const CALLS = {
  'blocks.find': ({ blocks }, n) => blocks.find('system', { organizationId: 1, userId: n }),
  'pins.list': ({ pins }) => pins.list('system', { repositoryId: 1, kind: 'issue' }),
  'blocks.list, 30': ({ blocks }) => blocks.list('system', { organizationId: 1, limit: 30 }),
  'badges.heldBy': ({ badges }) => badges.heldBy('system', 1),
  'events.list, 30': ({ events }) => events.list({ organizationId: 1 }, { limit: 30 }),
  'pins.pin': ({ pins }, n) => pins.pin('system', { id: 100 + n, repositoryId: 100 + n, kind: 'issue' }),
  'blocks.block': ({ blocks }, n) =>
    blocks.block('system', { organizationId: 1, account: { kind: 'user', id: 100 + n } }),
  'badges.grant': ({ badges }, n) => badges.grant('system', { userId: 100 + n, slugs: ['a', 'b'] }),
}

async function checkStatements() {
  const findings = await onEachDatabase(
    async (database) => {
      const storage = database.storage()
      await storage.migrate()
      const forge = createForge({
        storage,
        policy: { authorize: () => ({ allow: true }) },
        membership: { isMember: () => false },
      })
      await fill(forge)
      const found = []
      for (const [call, run] of Object.entries(CALLS)) {
        const counts = []
        for (let n = 1; n <= 5; n += 1) counts.push(await database.count(() => run(forge, n)))
        const median = counts.sort((one, other) => one - other)[2]
        found.push({
          what: `statements of ${call} on ${database.name}`,
          found: median,
          bound: MAX_STATEMENTS[call][database.name],
        })
      }
      await storage.close()
      return found
    },
    { counting: true },
  )
  return findings.flat()
}

async function fill(forge) {
  for (let id = 1; id <= 40; id += 1) {
    await forge.blocks.block('system', { organizationId: 1, account: { kind: 'user', id } })
  }
  for (let id = 1; id <= 3; id += 1) await forge.pins.pin('system', { id, repositoryId: 1, kind: 'issue' })
  for (const slug of ['a', 'b']) await forge.badges.catalogue.define('system', { slug })
  await forge.badges.grant('system', { userId: 1, slugs: ['a', 'b'] })
}

function checkImports() {
  return Object.entries(MAX_LOADED).flatMap(([entry, allowed]) => {
    const { sources, stderr } = loadedBy(entry)
    const others = sources.filter((source) => !allowed.test(source))
    return [
      {
        what: `modules that ${entry} should not load, of ${sources.length}`,
        found: others.length,
        bound: 0,
        detail: others,
      },
      { what: `lines that Node prints when it loads ${entry}`, found: stderr.length, bound: 0, detail: stderr },
    ]
  })
}

/** Imports an entry in a new process. Node writes the files that it loaded, and their source maps name the sources. */
function loadedBy(entry) {
  const folder = mkdtempSync(join(tmpdir(), 'forgelet-bench-'))
  try {
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', `import '${entry}'`], {
      cwd: ROOT,
      env: { ...process.env, NODE_V8_COVERAGE: folder },
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`${entry} cannot be imported: ${stderr}`)
    const urls = readdirSync(folder)
      .flatMap((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')).result)
      .map(({ url }) => url)
      .filter((url) => url.startsWith('file:') && !/\[eval\d*\]/.test(url))
    return { sources: urls.flatMap((url) => sourcesOf(fileURLToPath(url))), stderr: stderr.split('\n').filter(Boolean) }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function sourcesOf(file) {
  const own = relative(ROOT, file)
  if (!own.startsWith('dist/')) return [own]
  return JSON.parse(readFileSync(`${file}.map`, 'utf8')).sources.map((source) =>
    relative(ROOT, join(file, '..', source)),
  )
}
