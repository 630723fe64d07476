import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

/** One import that a rule refused. */
interface Violation {
  readonly rule: string
  readonly from: string
  readonly to: string
}

// One forbidden import a row: the rule that refuses it, the file it stands in, what it imports (`type`: as types only).
// Files that do not exist yet are made, empty, so that rooms of later days have their doors tested today.
const PLANTS: readonly (readonly [rule: string, file: string, imports: string])[] = [
  ['front-door-shows-core-and-words', 'src/index.ts', 'src/storage/memory/planted.ts'],
  ['front-door-shows-core-and-words', 'src/index.ts', 'src/schema/documents/planted.ts'],
  ['words-stand-on-the-ground', 'src/schema/a.ts', 'type src/core/planted.ts'],
  ['words-stand-on-the-ground', 'src/schema/a.ts', 'src/schema/documents/planted.ts'],
  ['documents-know-the-words', 'src/schema/documents/a.ts', 'src/core/planted.ts'],
  ['documents-know-the-words', 'src/schema/schema.ts', 'type src/exchange/planted.ts'],
  ['contract-knows-the-words', 'src/storage/contract/a.ts', 'type src/core/planted.ts'],
  ['contract-is-not-one-runtime-line', 'src/storage/contract/a.ts', 'src/schema/planted.ts'],
  ['contract-is-seen-as-types', 'src/core/a.ts', 'src/storage/contract/planted.ts'],
  ['contract-is-seen-as-types', 'src/storage/storage.ts', 'src/storage/contract/planted.ts'],
  ['core-knows-words-and-contract', 'src/core/a.ts', 'src/storage/sql/planted.ts'],
  ['core-knows-words-and-contract', 'src/core/a.ts', 'src/schema/documents/planted.ts'],
  ['core-knows-words-and-contract', 'src/core/a.ts', 'type src/http-adapters/routes/planted.ts'],
  ['features-keep-apart', 'src/core/pins/a.ts', 'type src/core/blocks/planted.ts'],
  ['features-keep-apart', 'src/core/exchange/a.ts', 'src/core/pins/planted.ts'],
  ['features-keep-apart', 'src/core/lifecycle/a.ts', 'src/core/events/planted.ts'],
  ['memory-knows-the-contract', 'src/storage/memory/a.ts', 'type src/core/planted.ts'],
  ['memory-knows-the-contract', 'src/storage/memory/a.ts', 'src/storage/sql/planted.ts'],
  ['sql-knows-the-contract', 'src/storage/sql/a.ts', 'type src/core/planted.ts'],
  ['sql-knows-the-contract', 'src/storage/sql/a.ts', 'src/storage/memory/planted.ts'],
  ['memory-entry-opens-its-room', 'src/storage/memory.ts', 'src/storage/sql/planted.ts'],
  ['sql-entries-open-their-room', 'src/storage/sqlite.ts', 'src/storage/memory/planted.ts'],
  ['sql-entries-open-their-room', 'src/storage/postgres.ts', 'src/core/planted.ts'],
  ['sql-entries-open-their-room', 'src/storage/mysql.ts', 'src/core/planted.ts'],
  ['sql-entries-open-their-room', 'src/storage/kysely.ts', 'src/core/planted.ts'],
  ['sql-entries-open-their-room', 'src/storage/durable-object.ts', 'src/core/planted.ts'],
  ['contract-entry-opens-its-room', 'src/storage/storage.ts', 'src/storage/memory/planted.ts'],
  ['routes-know-core-and-schema', 'src/http-adapters/routes/a.ts', 'src/storage/memory/planted.ts'],
  ['routes-know-core-and-schema', 'src/http-adapters/routes/a.ts', 'src/signing-keys/planted.ts'],
  ['routes-see-core-as-types', 'src/http-adapters/routes/a.ts', 'src/core/planted.ts'],
  ['http-entry-opens-the-routes', 'src/http-adapters/http.ts', 'src/storage/memory/planted.ts'],
  ['http-entry-opens-the-routes', 'src/http-adapters/http.ts', 'src/http-adapters/node/planted.ts'],
  ['node-adapter-translates-routes', 'src/http-adapters/node.ts', 'src/core/planted.ts'],
  ['node-adapter-translates-routes', 'src/http-adapters/node/a.ts', 'type src/core/planted.ts'],
  ['express-adapter-translates-routes', 'src/http-adapters/express.ts', 'src/core/planted.ts'],
  ['fetch-adapter-translates-routes', 'src/http-adapters/fetch.ts', 'src/core/planted.ts'],
  ['fetch-adapter-translates-routes', 'src/http-adapters/fetch/a.ts', 'src/http-adapters/node/planted.ts'],
  ['signing-keys-know-core-and-schema', 'src/signing-keys/a.ts', 'src/storage/memory/planted.ts'],
  ['signing-keys-see-core-as-types', 'src/signing-keys/a.ts', 'src/core/planted.ts'],
  ['exchange-knows-core-and-schema', 'src/exchange/a.ts', 'src/http-adapters/routes/planted.ts'],
  ['exchange-sees-core-as-types', 'src/exchange/a.ts', 'src/core/planted.ts'],
  ['standalone-is-a-guest', 'src/standalone/a.ts', 'type src/core/planted.ts'],
  ['standalone-is-a-guest', 'src/standalone/a.ts', 'src/testing/testing.ts'],
  ['testing-is-a-guest', 'src/testing/a.ts', 'src/storage/memory/planted.ts'],
  ['testing-is-a-guest', 'src/testing/a.ts', 'src/cli/planted.ts'],
  ['testing-is-a-guest', 'src/testing/a.ts', 'src/cli/planted.ts'],
  ['cli-is-a-guest', 'src/cli/a.ts', 'src/signing-keys/planted.ts'],
  ['cli-is-a-guest', 'src/cli/a.ts', 'src/testing/testing.ts'],
  ['cli-is-a-guest', 'src/cli/a.ts', 'src/testing/testing.ts'],
  ['entries-are-for-guests', 'src/core/a.ts', 'type src/index.ts'],
  ['entries-are-for-guests', 'src/exchange/a.ts', 'src/schema/schema.ts'],
  ['entries-are-for-guests', 'src/http-adapters/express.ts', 'src/http-adapters/node.ts'],
  ['zod-describes-documents-and-fixtures', 'src/schema/a.ts', 'zod'],
  ['zod-describes-documents-and-fixtures', 'src/testing/a.ts', 'type zod'],
  ['kysely-speaks-sql', 'src/storage/sqlite.ts', 'type kysely'],
  ['kysely-speaks-sql', 'src/cli/a.ts', 'kysely'],
  ['key-libraries-stay-with-the-keys', 'src/core/a.ts', 'openpgp'],
  ['key-libraries-stay-with-the-keys', 'src/cli/a.ts', 'openpgp'],
  ['yaml-stays-with-documents-and-cli', 'src/standalone/a.ts', 'yaml'],
  ['drivers-are-never-imported', 'src/storage/sqlite.ts', 'better-sqlite3'],
  ['drivers-are-never-imported', 'src/standalone/a.ts', 'type better-sqlite3'],
  ['drivers-are-never-imported', 'src/storage/sql/postgres/a.ts', 'pg'],
  ['drivers-are-never-imported', 'src/storage/sql/postgres/a.ts', 'type pg'],
  ['drivers-are-never-imported', 'src/storage/sql/mysql/a.ts', 'mysql2'],
  ['no-other-package', 'src/http-adapters/node.ts', 'type vitest'],
  ['no-other-package', 'src/standalone/a.ts', 'gitea-js'],
  ['portable-rooms-know-no-node', 'src/index.ts', 'node:fs'],
  ['portable-rooms-know-no-node', 'src/schema/a.ts', 'type node:buffer'],
  ['portable-rooms-know-no-node', 'src/core/a.ts', 'node:crypto'],
  ['portable-rooms-know-no-node', 'src/storage/sql/a.ts', 'node:async_hooks'],
  ['portable-rooms-know-no-node', 'src/storage/sql/postgres/a.ts', 'node:net'],
  ['portable-rooms-know-no-node', 'src/storage/sql/stores/a.ts', 'node:fs'],
  ['portable-rooms-know-no-node', 'src/http-adapters/routes/a.ts', 'type node:http'],
  ['source-knows-no-tests', 'src/testing/a.ts', 'test/planted.ts'],
  ['every-file-has-a-room', 'src/helpers/a.ts', 'src/schema/planted.ts'],
  ['no-circles', 'src/core/circle/a.ts', 'src/core/circle/b.ts'],
  ['everything-resolves', 'src/core/a.ts', './nowhere.ts'],
]

const TYPE = /^type /
const ROOT = resolve(import.meta.dirname, '../..')

describe('the doors', () => {
  const tree = mkdtempSync(join(tmpdir(), 'doors-'))
  let planted: readonly Violation[] = []

  beforeAll(() => {
    for (const name of ['src', 'package.json', 'tsconfig.json', '.dependency-cruiser.cjs']) {
      cpSync(join(ROOT, name), join(tree, name), { recursive: true })
    }
    symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'))
    for (const [, file, imports] of PLANTS) append(file, line(file, imports))
    append('src/core/circle/b.ts', "import './a.ts'\n")
    planted = violations(tree)
  })

  afterAll(() => rmSync(tree, { recursive: true }))

  it('stand open for nothing in the house as it is', () => {
    expect(violations(ROOT)).toEqual([])
  })

  it.each(PLANTS)('%s: %s may not import %s', (rule, file, imports) => {
    expect(
      planted
        .filter((found) => found.from === file && leadsTo(found.to, imports.replace(TYPE, '')))
        .map((found) => found.rule),
    ).toEqual([rule])
  })

  it('have each a planted violation and a reason', () => {
    const { forbidden } = createRequire(import.meta.url)('../../.dependency-cruiser.cjs')

    expect(new Set(PLANTS.map(([rule]) => rule))).toEqual(new Set(forbidden.map(({ name }: { name: string }) => name)))
    for (const { comment } of forbidden) expect(comment.length).toBeGreaterThan(20)
  })

  it('let pass what the rooms need', () => {
    append(
      'src/signing-keys/allowed.ts',
      "import 'node:fs'\nimport 'openpgp'\nimport type {} from '../core/ports.ts'\n",
    )
    append('src/storage/sqlite.ts', "\nimport 'node:module'\n")
    append('src/cli/allowed.ts', "import 'yaml'\nimport '../index.ts'\nimport '../standalone/standalone.ts'\n")
    append('src/testing/allowed.ts', "import '../standalone/standalone.ts'\n")

    const refused = violations(tree).filter((found) => found.from.endsWith('allowed.ts') || found.to === 'module')

    expect(refused).toEqual([])
  })

  /** The forbidden line; the file that it names is made when it is one of the house. */
  function line(file: string, imports: string): string {
    const named = imports.replace(TYPE, '')
    const inTree = /^(src|test)\//.test(named)
    if (inTree) append(named, '')
    return `\nimport ${TYPE.test(imports) ? 'type {} from ' : ''}'${inTree ? relativeTo(file, named) : named}'\n`
  }

  function append(file: string, text: string): void {
    const path = join(tree, file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, existsSync(path) ? readFileSync(path, 'utf8') + text : text)
  }
})

function relativeTo(file: string, named: string): string {
  const path = relative(dirname(file), named)
  return path.startsWith('.') ? path : `./${path}`
}

function violations(folder: string): readonly Violation[] {
  const cruiser = join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs')
  const { stdout, stderr } = spawnSync(process.execPath, [cruiser, '--output-type', 'json', 'src'], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  if (stdout === '') throw new Error(stderr)

  const { summary } = JSON.parse(stdout)
  return summary.violations.map(({ rule, from, to }: { rule: { name: string }; from: string; to: string }) => ({
    rule: rule.name,
    from,
    to,
  }))
}

/** Whether a resolved path is what was imported: the file itself, a Node module, or a file of the package. */
function leadsTo(path: string, imported: string): boolean {
  return (
    path === imported ||
    `node:${path}` === imported ||
    path.includes(`node_modules/${imported}/`) ||
    path.includes(`node_modules/@types/${imported}/`)
  )
}
