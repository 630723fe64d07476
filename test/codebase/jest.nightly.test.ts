import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { INSTALLATION, installPackages, packageFolder, packInto } from '../packages.ts'
import { copyNativeDriver } from './bundles/served.ts'

// Jest runs a host, and the package, as CommonJS in a context of its own, in which `import()` fails, and errors, times and lists that
// Node or a native driver makes are no instances of its classes.

const folder = packageFolder()
beforeAll(() => {
  installPackages(folder, [packInto(folder), 'jest@30.5.2', 'pg@8.23.1', 'mysql2@3.24.5'])
  copyNativeDriver(folder)
}, INSTALLATION)

const HOST = `
const { execFileSync } = require('node:child_process')
const { statSync, writeFileSync } = require('node:fs')
const Database = require('better-sqlite3')
const { createForge } = require('forgelet')
const { readIssues } = require('forgelet/exchange')
const { openIssueSource, writeIssueFile } = require('forgelet/exchange/files')
const { describeKey, generateKey, openKeyFile } = require('forgelet/signing-keys')
const { openStandalone } = require('forgelet/standalone')
const { mariadbStorage } = require('forgelet/storage/mariadb')
const { memoryStorage } = require('forgelet/storage/memory')
const { postgresStorage } = require('forgelet/storage/postgres')
const { sqliteStorage } = require('forgelet/storage/sqlite')

const forgeOn = (storage) =>
  createForge({ services: ['pins'], storage, policy: { authorize: () => ({ allow: true }) }, clock: { now: () => statSync('.').mtime } })

test('keys', async () => {
  for (const format of ['openpgp', 'ssh']) {
    const { privateKey } = await generateKey({ format, name: 'Forge', email: 'forge@example.com' })
    writeFileSync('key', privateKey)
    expect((await describeKey(await openKeyFile('key'))).format).toBe(format)
  }
})

test('YAML', async () => {
  writeFileSync('issues.yml', '[]')
  for await (const issue of readIssues(await openIssueSource('issues.yml'))) throw new Error(issue.title)
})

test('an archive', async () => {
  writeFileSync('issues.json', '[]')
  execFileSync('tar', ['-cf', 'issues.tar', 'issues.json'])
  const source = await openIssueSource('issues.tar')
  await source.close()
})

test.each([postgresStorage('postgres://127.0.0.1:1/forge'), mariadbStorage('mysql://127.0.0.1:1/forge')])('a URL', async (storage) => {
  await expect(storage.schemaStatus()).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE', message: expect.stringContaining('ECONNREFUSED') })
})

test.each([['memory', memoryStorage], ['SQLite', () => sqliteStorage(':memory:')]])('records of %s', async (_name, open) => {
  const storage = open()
  await storage.migrate()
  const forge = forgeOn(storage)
  await forge.pins.pin({ id: 1 }, { id: 7, repositoryId: 10, kind: 'issue' })
  const pinnedAt = new Date(statSync('.').mtime)

  expect(await forge.pins.list({ id: 1 }, { repositoryId: 10, kind: 'issue' })).toStrictEqual([{ issueId: '7', position: 1, pinnedAt, pinnedBy: '1' }])
  expect(await forge.events.prune({ before: statSync('.').mtime })).toBe(0)
})

test('errors of Node and of a native driver', async () => {
  await writeIssueFile('new.json', [])
  await expect(openKeyFile('missing')).rejects.toMatchObject({ code: 'SIGNING_KEY_UNREADABLE' })

  const handle = new Database('forge.sqlite')
  const storage = sqliteStorage(handle)
  await storage.migrate()
  const other = sqliteStorage(handle)
  handle.close()
  await expect(other.schemaStatus()).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
})

test('the ready-made server', async () => {
  const { close } = await openStandalone({ db: ':memory:' })
  await close()
})
`

test('the package loads in Jest whatever a host needs of it', () => {
  writeFileSync(join(folder, 'package.json'), '{ "jest": {} }')
  writeFileSync(join(folder, 'host.test.js'), HOST)
  const jest = [join(folder, 'node_modules/jest/bin/jest.js'), '--ci', '--no-colors']
  const { status, stderr } = spawnSync(process.execPath, jest, { cwd: folder, encoding: 'utf8' })

  expect(status, stderr).toBe(0)
})
