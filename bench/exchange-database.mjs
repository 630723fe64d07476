// Imports issues into the SQLite file of a standalone server, against the same rows by hand.
import { deepStrictEqual, strictEqual } from 'node:assert'
import { copyFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { readIssues } from 'forgelet/exchange'
import { openIssueSource } from 'forgelet/exchange/files'
import { openStandalone } from 'forgelet/standalone'
import { issueDocument, issueLine } from './exchange.mjs'
import { compare, inFolder, interleave, openedSide, sqliteCalls } from './harness.mjs'

const RECORDS = 1000
const FIXTURE = {
  users: [{ username: 'ada' }],
  repositories: ['rocket', 'probe'].map((name) => ({ owner: 'ada', name })),
}
const REPOSITORY = '1'
/** Where one issue is imported before anything is timed, so that every statement is compiled. */
const PROBE = '2'

/** Measures imports. A slice imports every issue into a new file. */
export function measure({ slices }) {
  return inFolder(async (folder) => {
    const [empty, fresh] = ['empty', 'fresh'].map((name) => join(folder, name))
    const newFile = () => {
      for (const end of ['', '-wal', '-shm']) rmSync(`${fresh}${end}`, { force: true })
      copyFileSync(empty, fresh)
      return fresh
    }
    const document = join(folder, 'issues.json')
    writeFileSync(document, [...issueDocument(RECORDS)].join(''))
    await (await openHost(empty)).close()

    const host = await openHost(newFile())
    const calls = await sqliteCalls(() => importFrom(host, document))
    await host.close()
    const imported = rowsIn(fresh)
    const inserts = calls.filter(({ sql }) => sql.startsWith('insert into "host_')).flatMap(oneByOne)
    const insertAll = (handle) => run(handle, [BEGIN, ...inserts, COMMIT])
    const openNew = () => openHandle(newFile())
    const byHand = openNew()
    insertAll(byHand)
    byHand.close()
    deepStrictEqual(rowsIn(fresh), imported, 'both write the same rows')

    const openProbed = async () => {
      const opened = await openHost(newFile())
      await opened.forge.exchange.import('system', { repositoryId: PROBE, records: [JSON.parse(issueLine(1))] })
      return opened
    }
    const sides = {
      import: openedSide(openProbed, (opened) => importFrom(opened, document)),
      inserts: openedSide(openNew, insertAll),
    }
    const row = {
      work: 'import a file of issues, every check, SQLite',
      floor: 'the same rows inserted by hand, one transaction',
      of: ['import', 'inserts'],
      reach: 0.35,
    }
    return [compare(await interleave(sides, { slices }), row)]
  })
}

const BEGIN = { sql: 'begin immediate', method: 'run', parameters: [] }
const COMMIT = { sql: 'commit', method: 'run', parameters: [] }

function openHost(file) {
  return openStandalone({ db: file, fixture: FIXTURE, logger: false })
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

/** Runs recorded statements, each prepared once. */
function run(handle, calls) {
  const prepared = new Map()
  for (const { sql, method, parameters } of calls) {
    if (!prepared.has(sql)) prepared.set(sql, handle.prepare(sql))
    const statement = prepared.get(sql)
    statement[method](...parameters)
  }
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

function rowsIn(file) {
  const handle = new Database(file, { readonly: true })
  const rows = handle.prepare(`select * from host_issues`).all()
  handle.close()
  return rows
}
