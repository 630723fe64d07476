// Imports and exports issues in the SQLite file of a standalone server, against the same rows by hand.
import { strictEqual } from 'node:assert'
import { copyFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { readIssues, writeIssues } from 'forgelet/exchange'
import { openIssueSource } from 'forgelet/exchange/files'
import { openStandalone } from 'forgelet/standalone'
import { sqliteStorage } from 'forgelet/storage/sqlite'
import { issueDocument, issueLine } from './exchange.mjs'
import { compare, inFolder, interleave, openedSide, sqliteCalls } from './harness.mjs'

const RECORDS = 1000
/** The first export of a host compiles its statements, which takes a fifth of the time of 1000 issues. */
const EXPORTED = 10_000
/** As many issues as an import writes in one transaction. */
const BATCH = 200
const FIXTURE = {
  users: [{ username: 'ada' }],
  repositories: ['rocket', 'probe'].map((name) => ({ owner: 'ada', name })),
}
const REPOSITORY = '1'
/** Where one issue is imported before anything is timed, so that every statement is compiled. */
const PROBE = '2'
/** Where the issues are, with their lists. */
const TABLE = 'host_issues'

const ROWS = [
  {
    work: 'import a file of issues, every check, SQLite',
    floor: 'the same rows inserted by hand, one transaction',
    of: ['import', 'inserts'],
    reach: '>= 0.35',
  },
  {
    work: `a batch of ${BATCH} issues through the storage, SQLite`,
    floor: 'the same statements in a transaction by hand',
    of: ['changes', 'statements'],
    reach: '>= 0.85',
  },
  {
    work: 'export issues with their lists, SQLite',
    floor: 'the same rows by hand, JSON.stringify',
    of: ['export', 'rows'],
    reach: '>= 0.5',
  },
]

/** Measures imports, batches and exports. A slice handles every issue once; each import has a new file. */
export function measure({ slices }) {
  return inFolder(async (folder) => {
    const [empty, large, fresh] = ['empty', 'large', 'fresh'].map((name) => join(folder, name))
    const newFile = () => {
      for (const end of ['', '-wal', '-shm']) rmSync(`${fresh}${end}`, { force: true })
      copyFileSync(empty, fresh)
      return fresh
    }
    const document = join(folder, 'issues.json')
    writeFileSync(document, [...issueDocument(RECORDS)].join(''))
    await (await openHost(empty)).close()
    copyFileSync(empty, large)
    const largeHost = await openHost(large)
    const exported = readIssues({ json: Buffer.from([...issueDocument(EXPORTED)].join('')) })
    await largeHost.forge.exchange.import('system', { repositoryId: REPOSITORY, records: exported })
    await largeHost.close()

    const host = await openHost(newFile())
    const batches = batchesOf(await sqliteCalls(() => importFrom(host, document)))
    await host.close()
    strictEqual(batches.length, RECORDS / BATCH)
    const inserts = batches.flat().flatMap(oneByOne)
    const imported = rowCount(fresh)
    const storage = await openStorage(newFile())
    const calls = await sqliteCalls(() => change(storage, batches))
    const statements = calls.slice(calls.findIndex(({ sql }) => sql.startsWith('begin'))) // not those that open the writer
    await storage.close()
    strictEqual(rowCount(fresh), imported, 'both write the same rows')

    const openProbed = async () => {
      const opened = await openHost(newFile())
      await opened.forge.exchange.import('system', { repositoryId: PROBE, records: [JSON.parse(issueLine(1))] })
      return opened
    }
    const openNewStorage = () => openStorage(newFile())
    const openNew = () => openHandle(newFile())
    const measured = await interleave(
      {
        import: openedSide(openProbed, (opened) => importFrom(opened, document)),
        inserts: openedSide(openNew, (handle) => run(handle, [BEGIN, ...inserts, COMMIT])),
        changes: openedSide(openNewStorage, (opened) => change(opened, batches)),
        statements: openedSide(openNew, (handle) => run(handle, statements)),
        export: openedSide(() => openHost(large), exportAll),
        rows: openedSide(() => openHandle(large), stringify),
      },
      { slices },
    )
    return ROWS.map((row) => compare(measured, row))
  })
}

const BEGIN = { sql: 'begin immediate', method: 'run', parameters: [] }
const COMMIT = { sql: 'commit', method: 'run', parameters: [] }

function openHost(file) {
  return openStandalone({ db: file, fixture: FIXTURE, logger: false })
}

async function openStorage(file) {
  const storage = sqliteStorage(file)
  await storage.migrate()
  return storage
}

/** A handle with the settings of those that forgelet writes on. */
function openHandle(file) {
  const handle = new Database(file)
  handle.exec('pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on')
  return handle
}

async function importFrom({ forge }, document) {
  const records = readIssues(await openIssueSource(document))
  const { issues } = await forge.exchange.import('system', { repositoryId: REPOSITORY, records })
  strictEqual(issues.created, RECORDS)
}

async function exportAll({ forge }) {
  let bytes = 0
  for await (const piece of writeIssues(forge.exchange.export('system', REPOSITORY))) bytes += piece.length
  strictEqual(bytes > EXPORTED * 500, true)
}

/** Writes the rows of each batch in one change of the storage. */
async function change(storage, batches) {
  const prepared = new Map()
  for (const inserts of batches) {
    await storage.issueImports.update(
      { repositoryId: REPOSITORY },
      {
        by: { actorId: null, at: () => new Date(0) },
        decide: (state) => ({ state, events: [IMPORTED], result: undefined }),
        beforeCommit: (_events, transaction) => run(transaction, inserts, prepared),
      },
    )
  }
}

const IMPORTED = {
  type: 'issues.imported',
  organizationId: null,
  repositoryId: REPOSITORY,
  issueId: null,
  userId: null,
  data: { created: BATCH, updated: 0, comments: 0 },
}

/** Runs recorded statements, each prepared once. */
function run(handle, calls, prepared = new Map()) {
  for (const { sql, method, parameters } of calls) {
    if (!prepared.has(sql)) prepared.set(sql, handle.prepare(sql))
    const statement = prepared.get(sql)
    statement[method](...parameters)
  }
}

/** The rows that each transaction of an import inserts into the tables of the host. */
function batchesOf(calls) {
  const batches = []
  for (const call of calls) {
    if (/^begin/.test(call.sql)) batches.push([])
    if (call.sql.startsWith('insert into "host_')) batches.at(-1).push(call)
  }
  return batches.filter((batch) => batch.length > 0)
}

/** The same rows in the same order, each in a statement of its own. */
function oneByOne({ sql, method, parameters }) {
  const [, start, row, end] = /^(.*\bvalues )(\([?, ]+\))(?:, \([?, ]+\))*(.*)$/s.exec(sql)
  const width = row.split('?').length - 1
  return Array.from({ length: parameters.length / width }, (_, index) => ({
    sql: `${start}${row}${end}`,
    method,
    parameters: parameters.slice(index * width, (index + 1) * width),
  }))
}

/** Reads the rows of the issues, and makes JSON of each. */
function stringify(handle) {
  let characters = 0
  for (const row of handle.prepare(`select * from "${TABLE}"`).iterate()) {
    characters += JSON.stringify({ ...row, record: JSON.parse(row.record) }).length
  }
  strictEqual(characters > EXPORTED * 500, true)
}

function rowCount(file) {
  const handle = new Database(file, { readonly: true })
  const { rows } = handle.prepare(`select count(*) as rows from "${TABLE}"`).get()
  handle.close()
  return rows
}
