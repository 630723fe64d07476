import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import ts from 'typescript'
import { beforeAll, describe, expect, it } from 'vitest'
import { mistakesIn } from '../compiler.ts'
import { packageFolder, packInto } from '../packages.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const manifest = createRequire(import.meta.url)('../../package.json')
const ENTRIES: readonly string[] = Object.keys(manifest.exports).map((key) => `forgelet${key.slice(1)}`)
const CODE: readonly string[] = ENTRIES.filter((entry) => !entry.endsWith('.json'))

/** What loads another package by itself. Every other entry loads nothing but itself. */
const WITH_MOMOA: readonly string[] = ['exchange', 'standalone', 'contracts', 'testing'].map(
  (name) => `forgelet/${name}`,
)

describe('the packed package', () => {
  const project = packageFolder()
  const installed = join(project, 'node_modules/forgelet')

  // Unpacked where an installation would put it, and no package beside it: what an entry loads by itself is then missed at once.
  beforeAll(() => {
    if (!existsSync(join(ROOT, 'dist/index.d.cts'))) throw new Error('this packs dist/: run `npm run build`')
    mkdirSync(installed, { recursive: true })
    execFileSync('tar', ['-xzf', packInto(project), '--strip-components=1', '-C', installed])
  })

  it('loads without any other package, but for momoa, and gives the same names to import and require', () => {
    const alone = namesIn('module')
    expect(namesIn('commonjs')).toEqual(alone)
    const failed = Object.entries(alone).filter(([, names]) => !Array.isArray(names))
    expect(failed.map(([entry]) => entry).sort()).toEqual(WITH_MOMOA.toSorted())

    beside(['@humanwhocodes/momoa'], () => {
      const names = namesIn('module')
      expect(namesIn('commonjs')).toEqual(names)
      expect(names).toEqual(
        Object.fromEntries(CODE.map((entry) => [entry, expect.arrayContaining([expect.anything()])])),
      )
    })
  })

  it('carries its JSON files', () => {
    const files = ENTRIES.filter((entry) => entry.endsWith('.json'))
    expect(load(`for (const file of ${JSON.stringify(files)}) process.stdout.write(typeof require(file))`)).toBe(
      'object'.repeat(files.length),
    )
  })

  it.each([
    ['postgres', 'pg', "postgresStorage('postgres://127.0.0.1/forge')"],
    ['mariadb', 'mysql2', "mariadbStorage('mysql://127.0.0.1/forge')"],
  ])('says how to get the driver of %s, in either format', (entry, driver, storage) => {
    const report = `${storage}.schemaStatus().catch((error) => process.stdout.write(error.code + ' ' + error.message))`
    const name = storage.replace(/\(.*/, '')

    for (const reported of [
      load(`import { ${name} } from 'forgelet/storage/${entry}'; ${report}`, 'module'),
      load(`const { ${name} } = require('forgelet/storage/${entry}'); ${report}`),
    ]) {
      expect(reported).toMatch(new RegExp(`^STORAGE_UNAVAILABLE ${driver} is not installed: npm i ${driver}`))
    }
  })

  it.each([
    ['postgres://127.0.0.1/forge', 'pg is not installed: npm i pg'],
    ['mysql://127.0.0.1/forge', 'mysql2 is not installed: npm i mysql2'],
    ['forge.sqlite', 'better-sqlite3 is not installed: npm i better-sqlite3@12'],
  ])('names on the command line the one command that installs the driver of %s', (db, message) => {
    beside(['@humanwhocodes/momoa', 'js-yaml'], () => {
      const words = [join(installed, manifest.bin.forgelet), 'serve', '--port', '0', '--db', db]
      const { status, stderr } = spawnSync(process.execPath, words, { cwd: project, encoding: 'utf8' })
      expect([status, stderr]).toEqual([3, `forgelet: database ${db} cannot be used: ${message}\n`])
    })
  })

  it('looks at the version of better-sqlite3 before it loads one that would end the process', () => {
    const driver = join(project, 'node_modules/better-sqlite3')
    mkdirSync(driver)
    writeFileSync(join(driver, 'package.json'), JSON.stringify({ version: '13.2.0' }))
    writeFileSync(join(driver, 'index.js'), "process.kill(process.pid, 'SIGSEGV')")
    const text = `
      const { openSqlite } = require('forgelet/storage/sqlite')
      try { openSqlite('forge.sqlite') } catch (error) { process.stdout.write(error.code + ' ' + error.message) }`
    const { signal, stdout } = spawnSync(process.execPath, ['-e', text], { cwd: project, encoding: 'utf8' })
    rmSync(driver, { recursive: true })

    expect({ signal, stdout }).toEqual(
      Number(process.versions['napi']) >= 10
        ? { signal: 'SIGSEGV', stdout: '' } // this Node can load it
        : {
            signal: null,
            stdout: expect.stringMatching(/^STORAGE_UNAVAILABLE better-sqlite3 13.2.0 needs Node 22.14 .*sqlite3@12/),
          },
    )
  })

  it('knows its own errors across import and require', () => {
    const text = `
      import { isForgeError } from 'forgelet'
      import { createRequire } from 'node:module'
      const { ForgeError } = createRequire(import.meta.url)('forgelet')
      process.stdout.write(String(isForgeError(new ForgeError('NOT_BLOCKED', ''), 'NOT_BLOCKED')))`

    expect(load(text, 'module')).toBe('true')
  })

  it('shows its errors under the names they have in the sources', () => {
    const text = `
      const { inspect } = require('node:util')
      const { ForgeError } = require('forgelet')
      const { bodyTooLarge } = require('forgelet/http')
      const errors = [new ForgeError('NOT_BLOCKED', 'not blocked'), bodyTooLarge(5)]
      const shown = errors.map((error) => [error.constructor.name, String(error), inspect(error)])
      process.stdout.write(JSON.stringify(shown))`

    expect(JSON.parse(load(text))).toEqual([
      ['ForgeError', 'ForgeError: not blocked', expect.stringMatching(/^ForgeError: not blocked\n/)],
      [
        'WireError',
        'WireError: the body must not be longer than 5 bytes',
        expect.stringMatching(/^WireError: the body must not be longer than 5 bytes\n/),
      ],
    ])
  })

  it('has a command that Node runs', () => {
    const command = join(installed, manifest.bin.forgelet)

    expect(readFileSync(command, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/)
    expect(statSync(command).mode & 0o111).not.toBe(0)
  })

  it('holds its licence, the licence of what is bundled, and no tests or sources', () => {
    const files = readdirSync(installed, { recursive: true, encoding: 'utf8' })

    const licences = ['kysely', 'modern-tar', 'zod', 'commander'].map((name) => `dist/licenses/${name}.txt`)
    const bundled = [...licences, 'dist/swagger-ui/LICENSE', 'dist/swagger-ui/NOTICE']
    expect(files).toEqual(expect.arrayContaining(['LICENSE', 'README.md', ...bundled]))
    expect(files.filter((file) => /^(src|test|tools|bench)\b|dist\/cli\.cjs/.test(file))).toEqual([])
  })

  it('names no folder of the machine that built it', () => {
    expect(() => execFileSync('grep', ['-rlF', ROOT, installed], { encoding: 'utf8' })).toThrow(/Command failed/)
  })

  it('has no type of another package in its types', () => {
    const foreign = declarations().flatMap((file) =>
      ts.preProcessFile(readFileSync(file, 'utf8')).importedFiles.map(({ fileName }) => fileName),
    )

    expect(foreign.filter((name) => !/^(\.|forgelet(\/|$))/.test(name))).toEqual([])
  })

  it('compiles without types of Node, and has the same types for a host of ES modules and a plugin of CommonJS', () => {
    const lines = CODE.flatMap((entry, index) => [
      `import * as m${index} from ${JSON.stringify(entry)}`,
      `import c${index} = require(${JSON.stringify(entry)})`,
      `export const there${index}: typeof m${index} = c${index}, back${index}: typeof c${index} = m${index}`,
    ])
    const forge = [
      "import type { Actor, Forge } from 'forgelet'",
      "import forgelet = require('forgelet')",
      "import http = require('forgelet/http')",
      'declare const forge: Forge<Actor, { readonly id: string }>',
      'declare const options: http.ApiOptions<Actor>',
      'export const plugged: forgelet.Forge<Actor, { readonly id: string }> = forge',
      'export const api: http.Api<Actor> = http.createApi(forge, options)',
    ]

    const compilerOptions = {
      ...{
        strict: true,
        exactOptionalPropertyTypes: true,
        noEmit: true,
        types: [],
        target: 'es2023',
        module: 'nodenext',
      },
      lib: ['es2023', 'dom', 'dom.iterable'],
    }
    writeFileSync(join(project, 'host.mts'), [...lines, ...forge].join('\n'))
    expect(mistakesIn(project, { compilerOptions, files: ['host.mts'] })).toBe('')
  })

  /** The names that each entry exports in a process that loads all of them, or false if it cannot be loaded. */
  function namesIn(type: 'module' | 'commonjs'): Readonly<Record<string, unknown>> {
    const text = `
      const names = async (entry) => Object.keys(await ${type === 'module' ? 'import' : 'require'}(entry))
      const exported = async (entry) => [entry, (await names(entry)).filter((name) => name !== 'default').sort()]
      const all = ${JSON.stringify(CODE)}.map((entry) => exported(entry).catch(() => [entry, false]))
      Promise.all(all).then((found) => process.stdout.write(JSON.stringify(Object.fromEntries(found))))`
    return JSON.parse(load(text, type))
  }

  /** Does some work while packages are installed beside this one. */
  function beside(names: readonly string[], work: () => void): void {
    mkdirSync(join(project, 'node_modules/@humanwhocodes'), { recursive: true })
    for (const name of names) symlinkSync(join(ROOT, 'node_modules', name), join(project, 'node_modules', name))
    try {
      work()
    } finally {
      for (const name of names) rmSync(join(project, 'node_modules', name))
    }
  }

  /** Runs a program in the project; returns what it writes to stdout. */
  function load(program: string, type: 'module' | 'commonjs' = 'commonjs'): string {
    return execFileSync(process.execPath, [`--input-type=${type}`, '--eval', program], {
      cwd: project,
      encoding: 'utf8',
      stdio: 'pipe',
    })
  }

  function declarations(): readonly string[] {
    const names = readdirSync(installed, { recursive: true, encoding: 'utf8' })
    return names.filter((name) => /\.d\.c?ts$/.test(name)).map((name) => join(installed, name))
  }
})
