import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

/** One import that violates a rule. */
interface Violation {
  readonly rule: string
  readonly from: string
  readonly to: string
}

// Each row is a forbidden import: the rule that it violates, the file with the import, and what it imports (`type`: as
// types only). Files that do not exist are created empty, so that rules are tested for modules that do not exist yet.
const PLANTS: readonly (readonly [rule: string, file: string, imports: string])[] = [
  ['index-exports-core-and-schema', 'src/index.ts', 'src/storage/memory/planted.ts'],
  ['index-exports-core-and-schema', 'src/index.ts', 'src/schema/documents/planted.ts'],
  ['schema-imports-nothing', 'src/schema/a.ts', 'type src/core/planted.ts'],
  ['schema-imports-nothing', 'src/schema/a.ts', 'src/schema/documents/planted.ts'],
  ['documents-import-schema', 'src/schema/documents/a.ts', 'src/core/planted.ts'],
  ['documents-import-schema', 'src/schema/schema.ts', 'type src/exchange/planted.ts'],
  ['contract-imports-schema', 'src/storage/contract/a.ts', 'type src/core/planted.ts'],
  ['contract-has-no-runtime-code', 'src/storage/contract/a.ts', 'src/schema/planted.ts'],
  ['contract-is-imported-as-types', 'src/core/a.ts', 'src/storage/contract/planted.ts'],
  ['contract-is-imported-as-types', 'src/storage/storage.ts', 'src/storage/contract/planted.ts'],
  ['core-imports-schema-and-contract', 'src/core/a.ts', 'src/storage/sql/planted.ts'],
  ['core-imports-schema-and-contract', 'src/core/a.ts', 'src/schema/documents/planted.ts'],
  ['core-imports-schema-and-contract', 'src/core/a.ts', 'type src/http-adapters/routes/planted.ts'],
  ['core-features-are-independent', 'src/core/pins/a.ts', 'type src/core/blocks/planted.ts'],
  ['core-features-are-independent', 'src/core/exchange/a.ts', 'src/core/pins/planted.ts'],
  ['core-features-are-independent', 'src/core/lifecycle/a.ts', 'src/core/events/planted.ts'],
  ['core-features-are-independent', 'src/core/a-new-feature/a.ts', 'src/core/pins/planted.ts'],
  ['core-features-are-independent', 'src/core/pins/a.ts', 'type src/core/a-new-feature/planted.ts'],
  ['core-features-are-independent', 'src/core/access/a.ts', 'src/core/pins/planted.ts'],
  ['memory-imports-contract', 'src/storage/memory/a.ts', 'type src/core/planted.ts'],
  ['memory-imports-contract', 'src/storage/memory/a.ts', 'src/storage/sql/planted.ts'],
  ['sql-imports-contract', 'src/storage/sql/a.ts', 'type src/core/planted.ts'],
  ['sql-imports-contract', 'src/storage/sql/a.ts', 'src/storage/memory/planted.ts'],
  ['memory-entry-exports-memory', 'src/storage/memory.ts', 'src/storage/sql/planted.ts'],
  ['sql-entries-export-sql', 'src/storage/sqlite.ts', 'src/storage/memory/planted.ts'],
  ['sql-entries-export-sql', 'src/storage/postgres.ts', 'src/core/planted.ts'],
  ['sql-entries-export-sql', 'src/storage/mysql.ts', 'src/core/planted.ts'],
  ['sql-entries-export-sql', 'src/storage/kysely.ts', 'src/core/planted.ts'],
  ['sql-entries-export-sql', 'src/storage/durable-object.ts', 'src/core/planted.ts'],
  ['contract-entry-exports-contract', 'src/storage/storage.ts', 'src/storage/memory/planted.ts'],
  ['routes-import-core-and-schema', 'src/http-adapters/routes/a.ts', 'src/storage/memory/planted.ts'],
  ['routes-import-core-and-schema', 'src/http-adapters/routes/a.ts', 'src/signing-keys/planted.ts'],
  ['routes-import-core-as-types', 'src/http-adapters/routes/a.ts', 'src/core/planted.ts'],
  [
    'route-features-are-independent',
    'src/http-adapters/routes/pins/a.ts',
    'src/http-adapters/routes/blocks/planted.ts',
  ],
  [
    'route-features-are-independent',
    'src/http-adapters/routes/a-new-feature/a.ts',
    'type src/http-adapters/routes/pins/planted.ts',
  ],
  [
    'route-features-are-independent',
    'src/http-adapters/routes/openapi/a.ts',
    'src/http-adapters/routes/pins/planted.ts',
  ],
  ['http-entry-exports-routes', 'src/http-adapters/http.ts', 'src/storage/memory/planted.ts'],
  ['http-entry-exports-routes', 'src/http-adapters/http.ts', 'src/http-adapters/node/planted.ts'],
  ['node-adapter-imports-routes', 'src/http-adapters/node.ts', 'src/core/planted.ts'],
  ['node-adapter-imports-routes', 'src/http-adapters/node/a.ts', 'type src/core/planted.ts'],
  ['express-adapter-imports-routes', 'src/http-adapters/express.ts', 'src/core/planted.ts'],
  ['fetch-adapter-imports-routes', 'src/http-adapters/fetch.ts', 'src/core/planted.ts'],
  ['fetch-adapter-imports-routes', 'src/http-adapters/fetch/a.ts', 'src/http-adapters/node/planted.ts'],
  ['signing-keys-import-core-and-schema', 'src/signing-keys/a.ts', 'src/storage/memory/planted.ts'],
  ['signing-keys-import-core-as-types', 'src/signing-keys/a.ts', 'src/core/planted.ts'],
  ['exchange-imports-core-and-schema', 'src/exchange/a.ts', 'src/http-adapters/routes/planted.ts'],
  ['exchange-does-not-open-files', 'src/exchange/documents/a.ts', 'type src/exchange/files/planted.ts'],
  ['exchange-imports-core-as-types', 'src/exchange/a.ts', 'src/core/planted.ts'],
  ['standalone-is-an-application', 'src/standalone/a.ts', 'type src/core/planted.ts'],
  ['standalone-is-an-application', 'src/standalone/a.ts', 'src/testing/testing.ts'],
  ['standalone-is-an-application', 'src/standalone/a.ts', 'src/storage/sql/planted.ts'],
  ['host-store-uses-the-sql-storage', 'src/standalone/host-store/a.ts', 'type src/core/planted.ts'],
  ['host-store-uses-the-sql-storage', 'src/standalone/host-store/a.ts', 'src/storage/memory/planted.ts'],
  ['testing-is-an-application', 'src/testing/a.ts', 'src/storage/memory/planted.ts'],
  ['testing-is-an-application', 'src/testing/a.ts', 'src/cli/planted.ts'],
  ['testing-is-an-application', 'src/testing/a.ts', 'src/cli/planted.ts'],
  ['cli-is-an-application', 'src/cli/a.ts', 'src/signing-keys/planted.ts'],
  ['cli-is-an-application', 'src/cli/a.ts', 'src/testing/testing.ts'],
  ['cli-is-an-application', 'src/cli/a.ts', 'src/testing/testing.ts'],
  ['entries-are-for-applications', 'src/core/a.ts', 'type src/index.ts'],
  ['entries-are-for-applications', 'src/exchange/a.ts', 'src/schema/schema.ts'],
  ['entries-are-for-applications', 'src/http-adapters/express.ts', 'src/http-adapters/node.ts'],
  ['zod-is-for-documents-and-fixtures', 'src/schema/a.ts', 'zod'],
  ['zod-is-for-documents-and-fixtures', 'src/testing/a.ts', 'type zod'],
  ['kysely-is-for-sql', 'src/storage/sqlite.ts', 'type kysely'],
  ['kysely-is-for-sql', 'src/cli/a.ts', 'kysely'],
  ['kysely-is-for-sql', 'src/standalone/a.ts', 'type kysely'],
  ['openpgp-is-for-signing-keys', 'src/core/a.ts', 'openpgp'],
  ['openpgp-is-for-signing-keys', 'src/cli/a.ts', 'openpgp'],
  ['yaml-is-for-exchange-and-cli', 'src/standalone/a.ts', 'yaml'],
  ['drivers-are-never-imported', 'src/storage/sqlite.ts', 'better-sqlite3'],
  ['drivers-are-never-imported', 'src/standalone/a.ts', 'type better-sqlite3'],
  ['drivers-are-never-imported', 'src/storage/sql/clients/a.ts', 'pg'],
  ['drivers-are-never-imported', 'src/storage/sql/clients/a.ts', 'type pg'],
  ['drivers-are-never-imported', 'src/storage/sql/clients/a.ts', 'mysql2'],
  ['no-other-package', 'src/http-adapters/node.ts', 'type vitest'],
  ['no-other-package', 'src/standalone/a.ts', 'gitea-js'],
  ['portable-modules-import-no-node', 'src/index.ts', 'node:fs'],
  ['portable-modules-import-no-node', 'src/schema/a.ts', 'type node:buffer'],
  ['portable-modules-import-no-node', 'src/core/a.ts', 'node:crypto'],
  ['portable-modules-import-no-node', 'src/exchange/json/a.ts', 'node:buffer'],
  ['portable-modules-import-no-node', 'src/storage/sql/a.ts', 'node:async_hooks'],
  ['portable-modules-import-no-node', 'src/storage/sql/clients/a.ts', 'node:net'],
  ['portable-modules-import-no-node', 'src/storage/sql/stores/a.ts', 'node:fs'],
  ['portable-modules-import-no-node', 'src/http-adapters/routes/a.ts', 'type node:http'],
  ['source-imports-no-tests', 'src/testing/a.ts', 'test/planted.ts'],
  ['every-file-has-a-module', 'src/helpers/a.ts', 'src/schema/planted.ts'],
  ['every-file-has-a-module', 'src/storage/a-new-storage/a.ts', 'src/schema/planted.ts'],
  ['every-file-has-a-module', 'src/http-adapters/a-new-adapter/a.ts', 'src/schema/planted.ts'],
  ['no-cycles', 'src/core/circle/a.ts', 'src/core/circle/b.ts'],
  ['no-cycles', 'src/core/circle/c.ts', 'type src/core/circle/d.ts'],
  ['every-import-resolves', 'src/core/a.ts', './nowhere.ts'],
]

const TYPE = /^type /
const ROOT = resolve(import.meta.dirname, '../..')

describe('the boundaries', () => {
  const tree = mkdtempSync(join(tmpdir(), 'boundaries-'))
  let planted: readonly Violation[] = []

  beforeAll(() => {
    for (const name of ['src', 'package.json', 'tsconfig.json', '.dependency-cruiser.cjs']) {
      cpSync(join(ROOT, name), join(tree, name), { recursive: true })
    }
    symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'))
    for (const [, file, imports] of PLANTS) append(file, line(file, imports))
    append('src/core/circle/b.ts', "import './a.ts'\n")
    append('src/core/circle/d.ts', "import type {} from './c.ts'\n")
    planted = violations(tree)
  })

  afterAll(() => rmSync(tree, { recursive: true }))

  it('hold in the codebase as it is', () => {
    expect(violations(ROOT)).toEqual([])
  })

  it.each(PLANTS)('find, as %s, that %s imports %s', (rule, file, imports) => {
    expect(
      planted
        .filter((found) => found.from === file && leadsTo(found.to, imports.replace(TYPE, '')))
        .map((found) => found.rule),
    ).toEqual([rule])
  })

  it('each have a planted violation and a reason', () => {
    const { forbidden } = createRequire(import.meta.url)('../../.dependency-cruiser.cjs')

    expect(new Set(PLANTS.map(([rule]) => rule))).toEqual(new Set(forbidden.map(({ name }: { name: string }) => name)))
    for (const { comment } of forbidden) expect(comment.length).toBeGreaterThan(20)
  })

  it('permit what the modules need', () => {
    append('src/core/pins/allowed.ts', "import '../access/allowed.ts'\nimport './pin-rules.ts'\n")
    append('src/core/access/allowed.ts', "import '../call.ts'\n")
    append('src/core/allowed.ts', "import './pins/allowed.ts'\n")
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

  /** Returns the forbidden line, and creates the file that it names if that is a file of the codebase. */
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

/** Returns whether a resolved path is what was imported: the file itself, a Node module, or a file of the package. */
function leadsTo(path: string, imported: string): boolean {
  return (
    path === imported ||
    `node:${path}` === imported ||
    path.includes(`node_modules/${imported}/`) ||
    path.includes(`node_modules/@types/${imported}/`)
  )
}
