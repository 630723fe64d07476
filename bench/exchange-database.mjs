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

/** Measures imports, batches and exports. A slice handles every issue once; each import has a new file. */
export function measure({ slices }) {
  return inFolder(async (folder) => {
    const [empty, filled, fresh, large] = ['empty', 'filled', 'fresh', 'large'].map((name) => join(folder, name))
    const document = join(folder, 'issues.json')
    writeFileSync(document, [...issueDocument(RECORDS)].join(''))
    const newFile = () => {
      for (const end of ['', '-wal', '-shm']) rmSync(`${fresh}${end}`, { force: true })
      copyFileSync(empty, fresh)
      return fresh
    }
    await withOpened(openHost(empty), () => undefined)
    for (const file of [filled, large]) copyFileSync(empty, file)
    const exported = readIssues({ json: Buffer.from([...issueDocument(EXPORTED)].join('')) })
    await withOpened(openHost(large), ({ forge }) =>
      forge.exchange.import('system', { repositoryId: REPOSITORY, records: exported }),
    )
    const imported = await sqliteCalls(() => withOpened(openHost(filled), (host) => importFrom(host, document)))
    const inserts = oneByOne(imported.filter(({ sql }) => sql.startsWith('insert into "host_')))
    const batches = batchesOf(imported)
    strictEqual(batches.length, RECORDS / BATCH)
    const changes = await sqliteCalls(() => withOpened(openStorage(newFile()), (storage) => change(storage, batches)))
    strictEqual(rowCount(fresh), rowCount(filled), 'both write the same rows')

    const openProbed = async () => {
      const opened = await openHost(newFile())
      await opened.forge.exchange.import('system', { repositoryId: PROBE, records: [JSON.parse(issueLine(1))] })
      return opened
    }
    const openLarge = () => openHandle(large)
    const openNew = () => openHandle(newFile())
    const sides = {
      import: openedSide(openProbed, (host) => importFrom(host, document)),
      inserts: openedSide(openNew, (handle) => run(handle, [BEGIN, ...inserts, COMMIT])),
      changes: openedSide(
        () => openStorage(newFile()),
        (storage) => change(storage, batches),
      ),
      statements: openedSide(openNew, (handle) => run(handle, transactionsOf(changes))),
      export: openedSide(() => openHost(large), exportAll),
      rows: openedSide(openLarge, stringify),
    }
    const measured = await interleave(sides, { slices })
    return [
      {
        work: 'import a file of issues, every check, SQLite',
        floor: 'the same rows inserted by hand, one transaction',
        of: ['import', 'inserts'],
        reach: '>= 0.12',
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
    ].map((row) => compare(measured, row))
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

async function withOpened(opening, work) {
  const opened = await opening
  await work(opened)
  await opened.close()
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
    let statement = prepared.get(sql)
    if (statement === undefined) {
      statement = handle.prepare(sql)
      prepared.set(sql, statement)
    }
    statement[method](...parameters)
  }
}

/** The rows that each transaction of an import inserts into the tables of the host. */
function batchesOf(calls) {
  const batches = []
  for (const { sql, ...call } of calls) {
    if (/^begin/.test(sql)) batches.push([])
    if (sql.startsWith('insert into "host_')) batches.at(-1).push({ sql, ...call })
  }
  return batches.filter((batch) => batch.length > 0)
}

/** The same rows in the same order, each in a statement of its own. */
function oneByOne(inserts) {
  return inserts.flatMap(({ sql, method, parameters }) => {
    const [, start, row, end] = /^(.* values )(\([?, ]+\))(?:, \([?, ]+\))*(.*)$/.exec(sql)
    const width = row.split('?').length - 1
    const rows = Array.from({ length: parameters.length / width }, (_, index) =>
      parameters.slice(index * width, (index + 1) * width),
    )
    return rows.map((values) => ({ sql: `${start}${row}${end}`, method, parameters: values }))
  })
}

/** What runs between the begin and the commit of each transaction, with both. */
function transactionsOf(calls) {
  let isInside = false
  return calls.filter(({ sql }) => {
    isInside ||= /^begin/.test(sql)
    const isPart = isInside
    isInside &&= !/^commit/.test(sql)
    return isPart
  })
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
