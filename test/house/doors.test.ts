import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

/** One forbidden import: the rule that refuses it, the file it stands in, what it imports, and how. */
interface Plant {
  readonly rule: string
  readonly file: string
  readonly imports: string
  readonly type?: true
}

/** One import that a rule refused. */
interface Violation {
  readonly rule: string
  readonly from: string
  readonly to: string
}

// Files that do not exist yet are made, empty, so that rooms of later days have their doors tested today.
const PLANTS: readonly Plant[] = [
  { rule: 'front-door-shows-core-and-words', file: 'src/index.ts', imports: 'src/storage/memory/planted.ts' },
  { rule: 'front-door-shows-core-and-words', file: 'src/index.ts', imports: 'src/schema/documents/planted.ts' },
  { rule: 'words-stand-on-the-ground', file: 'src/schema/a.ts', imports: 'src/core/planted.ts', type: true },
  { rule: 'words-stand-on-the-ground', file: 'src/schema/a.ts', imports: 'src/schema/documents/planted.ts' },
  { rule: 'documents-know-the-words', file: 'src/schema/documents/a.ts', imports: 'src/core/planted.ts' },
  { rule: 'documents-know-the-words', file: 'src/schema/schema.ts', imports: 'src/exchange/planted.ts', type: true },
  { rule: 'contract-knows-the-words', file: 'src/storage/contract/a.ts', imports: 'src/core/planted.ts', type: true },
  { rule: 'contract-is-not-one-runtime-line', file: 'src/storage/contract/a.ts', imports: 'src/schema/planted.ts' },
  { rule: 'contract-is-seen-as-types', file: 'src/core/a.ts', imports: 'src/storage/contract/planted.ts' },
  { rule: 'contract-is-seen-as-types', file: 'src/storage/storage.ts', imports: 'src/storage/contract/planted.ts' },
  { rule: 'core-knows-words-and-contract', file: 'src/core/a.ts', imports: 'src/storage/sql/planted.ts' },
  { rule: 'core-knows-words-and-contract', file: 'src/core/a.ts', imports: 'src/schema/documents/planted.ts' },
  {
    rule: 'core-knows-words-and-contract',
    file: 'src/core/a.ts',
    imports: 'src/http-adapters/routes/planted.ts',
    type: true,
  },
  { rule: 'features-keep-apart', file: 'src/core/pins/a.ts', imports: 'src/core/blocks/planted.ts', type: true },
  { rule: 'features-keep-apart', file: 'src/core/exchange/a.ts', imports: 'src/core/pins/planted.ts' },
  { rule: 'features-keep-apart', file: 'src/core/lifecycle/a.ts', imports: 'src/core/events/planted.ts' },
  { rule: 'memory-knows-the-contract', file: 'src/storage/memory/a.ts', imports: 'src/core/planted.ts', type: true },
  { rule: 'memory-knows-the-contract', file: 'src/storage/memory/a.ts', imports: 'src/storage/sql/planted.ts' },
  { rule: 'sql-knows-the-contract', file: 'src/storage/sql/a.ts', imports: 'src/core/planted.ts', type: true },
  { rule: 'sql-knows-the-contract', file: 'src/storage/sql/a.ts', imports: 'src/storage/memory/planted.ts' },
  { rule: 'memory-entry-opens-its-room', file: 'src/storage/memory.ts', imports: 'src/storage/sql/planted.ts' },
  { rule: 'sql-entries-open-their-room', file: 'src/storage/sqlite.ts', imports: 'src/storage/memory/planted.ts' },
  { rule: 'sql-entries-open-their-room', file: 'src/storage/postgres.ts', imports: 'src/core/planted.ts' },
  { rule: 'sql-entries-open-their-room', file: 'src/storage/mysql.ts', imports: 'src/core/planted.ts' },
  { rule: 'sql-entries-open-their-room', file: 'src/storage/kysely.ts', imports: 'src/core/planted.ts' },
  { rule: 'contract-entry-opens-its-room', file: 'src/storage/storage.ts', imports: 'src/storage/memory/planted.ts' },
  {
    rule: 'routes-know-core-and-schema',
    file: 'src/http-adapters/routes/a.ts',
    imports: 'src/storage/memory/planted.ts',
  },
  {
    rule: 'routes-know-core-and-schema',
    file: 'src/http-adapters/routes/a.ts',
    imports: 'src/signing-keys/planted.ts',
  },
  { rule: 'routes-see-core-as-types', file: 'src/http-adapters/routes/a.ts', imports: 'src/core/planted.ts' },
  { rule: 'adapters-translate-routes', file: 'src/http-adapters/http.ts', imports: 'src/storage/memory/planted.ts' },
  { rule: 'adapters-translate-routes', file: 'src/http-adapters/node.ts', imports: 'src/core/planted.ts' },
  { rule: 'adapters-translate-routes', file: 'src/http-adapters/express.ts', imports: 'src/core/planted.ts' },
  { rule: 'adapters-translate-routes', file: 'src/http-adapters/fetch.ts', imports: 'src/core/planted.ts' },
  {
    rule: 'signing-keys-know-core-and-schema',
    file: 'src/signing-keys/a.ts',
    imports: 'src/storage/memory/planted.ts',
  },
  { rule: 'signing-keys-see-core-as-types', file: 'src/signing-keys/a.ts', imports: 'src/core/planted.ts' },
  { rule: 'exchange-knows-core-and-schema', file: 'src/exchange/a.ts', imports: 'src/http-adapters/routes/planted.ts' },
  { rule: 'exchange-sees-core-as-types', file: 'src/exchange/a.ts', imports: 'src/core/planted.ts' },
  { rule: 'standalone-is-a-guest', file: 'src/standalone/a.ts', imports: 'src/core/planted.ts', type: true },
  { rule: 'standalone-is-a-guest', file: 'src/standalone/a.ts', imports: 'src/testing/testing.ts' },
  { rule: 'testing-is-a-guest', file: 'src/testing/a.ts', imports: 'src/storage/memory/planted.ts' },
  { rule: 'testing-is-a-guest', file: 'src/testing/a.ts', imports: 'src/standalone/planted.ts' },
  { rule: 'cli-is-a-guest', file: 'src/cli/a.ts', imports: 'src/signing-keys/planted.ts' },
  { rule: 'cli-is-a-guest', file: 'src/cli/a.ts', imports: 'src/standalone/planted.ts' },
  { rule: 'entries-are-for-guests', file: 'src/core/a.ts', imports: 'src/index.ts', type: true },
  { rule: 'entries-are-for-guests', file: 'src/exchange/a.ts', imports: 'src/schema/schema.ts' },
  { rule: 'entries-are-for-guests', file: 'src/http-adapters/express.ts', imports: 'src/http-adapters/node.ts' },
  { rule: 'zod-describes-documents-and-fixtures', file: 'src/schema/a.ts', imports: 'zod' },
  { rule: 'zod-describes-documents-and-fixtures', file: 'src/testing/a.ts', imports: 'zod', type: true },
  { rule: 'kysely-speaks-sql', file: 'src/storage/sqlite.ts', imports: 'kysely', type: true },
  { rule: 'kysely-speaks-sql', file: 'src/cli/a.ts', imports: 'kysely' },
  { rule: 'key-libraries-stay-with-the-keys', file: 'src/core/a.ts', imports: 'openpgp' },
  { rule: 'key-libraries-stay-with-the-keys', file: 'src/cli/a.ts', imports: 'sshpk' },
  { rule: 'yaml-stays-with-documents-and-cli', file: 'src/standalone/a.ts', imports: 'yaml' },
  { rule: 'better-sqlite3-is-never-imported', file: 'src/storage/sqlite.ts', imports: 'better-sqlite3' },
  { rule: 'better-sqlite3-is-never-imported', file: 'src/standalone/a.ts', imports: 'better-sqlite3', type: true },
  { rule: 'no-other-package', file: 'src/http-adapters/node.ts', imports: 'vitest', type: true },
  { rule: 'no-other-package', file: 'src/standalone/a.ts', imports: 'gitea-js' },
  { rule: 'portable-rooms-know-no-node', file: 'src/index.ts', imports: 'node:fs' },
  { rule: 'portable-rooms-know-no-node', file: 'src/schema/a.ts', imports: 'node:buffer', type: true },
  { rule: 'portable-rooms-know-no-node', file: 'src/core/a.ts', imports: 'node:crypto' },
  { rule: 'portable-rooms-know-no-node', file: 'src/storage/sql/a.ts', imports: 'node:async_hooks' },
  { rule: 'portable-rooms-know-no-node', file: 'src/http-adapters/routes/a.ts', imports: 'node:http', type: true },
  { rule: 'source-knows-no-tests', file: 'src/testing/a.ts', imports: 'test/planted.ts' },
  { rule: 'every-file-has-a-room', file: 'src/helpers/a.ts', imports: 'src/schema/planted.ts' },
  { rule: 'no-circles', file: 'src/core/circle/a.ts', imports: 'src/core/circle/b.ts' },
  { rule: 'everything-resolves', file: 'src/core/a.ts', imports: './nowhere.ts' },
]

const ROOT = resolve(import.meta.dirname, '../..')

describe('the doors', () => {
  const tree = mkdtempSync(join(tmpdir(), 'doors-'))
  let planted: readonly Violation[] = []

  beforeAll(() => {
    for (const name of ['src', 'package.json', 'tsconfig.json', '.dependency-cruiser.cjs']) {
      cpSync(join(ROOT, name), join(tree, name), { recursive: true })
    }
    symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'))
    for (const plant of PLANTS) append(plant.file, line(plant))
    append('src/core/circle/b.ts', "import './a.ts'\n")
    planted = violations(tree)
  })

  afterAll(() => rmSync(tree, { recursive: true }))

  it('stand open for nothing in the house as it is', () => {
    expect(violations(ROOT)).toEqual([])
  })

  it.each(PLANTS)('$rule refuses $imports in $file', ({ rule, file, imports }) => {
    expect(
      planted.filter((found) => found.from === file && leadsTo(found.to, imports)).map((found) => found.rule),
    ).toEqual([rule])
  })

  it('have each a planted violation and a reason', () => {
    const { forbidden } = createRequire(import.meta.url)('../../.dependency-cruiser.cjs')

    expect(new Set(PLANTS.map((plant) => plant.rule))).toEqual(
      new Set(forbidden.map(({ name }: { name: string }) => name)),
    )
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

  function line({ file, imports, type }: Plant): string {
    const inTree = imports.includes('/planted.ts') || imports.startsWith('src/')
    if (inTree) append(imports, '')
    const target = inTree ? `./${relative(dirname(file), imports)}` : imports
    return type === true ? `\nimport type {} from '${target}'\n` : `\nimport '${target}'\n`
  }

  function append(file: string, text: string): void {
    const path = join(tree, file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, existsSync(path) ? readFileSync(path, 'utf8') + text : text)
  }
})

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
