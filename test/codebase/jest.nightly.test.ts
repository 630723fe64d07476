import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { INSTALLATION, installPackages, packageFolder, packInto } from '../packages.ts'
import { copyNativeDriver } from './bundles/served.ts'

// Jest runs a host, and the package, as CommonJS in a context of its own, in which `import()` fails.

const folder = packageFolder()
beforeAll(() => {
  installPackages(folder, [packInto(folder), 'jest@30.5.2', 'pg@8.23.1', 'mysql2@3.24.5'])
  copyNativeDriver(folder)
}, INSTALLATION)

const HOST = `
const { execFileSync } = require('node:child_process')
const { writeFileSync } = require('node:fs')
const { readIssues } = require('forgelet/exchange')
const { openIssueSource } = require('forgelet/exchange/files')
const { describeKey, generateKey, openKeyFile } = require('forgelet/signing-keys')
const { openStandalone } = require('forgelet/standalone')
const { mariadbStorage } = require('forgelet/storage/mariadb')
const { postgresStorage } = require('forgelet/storage/postgres')

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
  await expect(storage.schemaStatus()).rejects.toThrow('provides no connection')
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
