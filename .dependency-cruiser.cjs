const { readdirSync } = require('node:fs')

// The boundaries of the codebase: which module may import what, and why. ARCHITECTURE.md shows the modules.

const SCHEMA = '^src/schema/'
const CONTRACT = '^src/storage/contract/'
const CORE = '^src/core/'
const ROUTES = '^src/http-adapters/routes/'
/** The folders of the core: the routes of a service have the name of its folder. */
const SERVICES = readdirSync('src/core', { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .join('|')
const ADAPTERS = '^src/http-adapters/(node|express|fetch)/'
const FORMATS = '^src/(signing-keys|exchange)/'
const APP = '^app/'

/** What package.json exports. */
const ENTRIES = [
  '^src/index[.]ts$',
  '^src/(schema/schema|signing-keys/signing-keys|exchange/(exchange|files)|testing/contracts)[.]ts$',
  '^src/(storage|http-adapters)/[^/]+[.]ts$',
]

/** Those that may be imported. A driver is optional: `drivers-are-loaded-when-used`. */
const PACKAGES = 'zod|kysely|openpgp|sshpk|js-yaml|modern-tar|yauzl|@humanwhocodes/momoa|@commander-js/extra-typings'
const DRIVERS = 'better-sqlite3|pg|mysql2'

const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to })

/** The files of a module import each other, and what is listed: nothing else of src/. Entry files are outside of this. */
const imports = (name, from, others, comment) =>
  rule(name, comment, { path: from, pathNot: ENTRIES }, { path: '^src/', pathNot: [from, ...others] })

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    imports('schema-imports-nothing', SCHEMA, [], 'Every module imports the shared types, so they import none.'),
    imports('contract-imports-schema', CONTRACT, [SCHEMA], 'The author of a storage reads the contract alone.'),
    imports(
      'core-imports-contract',
      CORE,
      [SCHEMA, CONTRACT],
      'The rules run without HTTP and without a database: in tests, and in Workers.',
    ),
    rule(
      'storages-import-contract',
      'A storage keeps state and decides nothing. A program that uses the memory storage must not load Kysely.',
      { path: '^src/storage/(memory|sql)/' },
      { path: '^src/', pathNot: ['^src/storage/$1/', CONTRACT, SCHEMA] },
    ),
    imports(
      'routes-import-core',
      ROUTES,
      [SCHEMA, CORE],
      'Routes translate between HTTP and the core. They depend on no server (Node, Express, Fetch) and no storage.',
    ),
    imports(
      'adapters-import-routes',
      ADAPTERS,
      [ROUTES],
      'An adapter translates messages. With a service it would decide.',
    ),
    imports(
      'formats-import-core',
      FORMATS,
      [SCHEMA, CORE],
      'Reading keys and issue documents needs neither a storage nor HTTP.',
    ),
    rule(
      'core-and-contract-are-types',
      'Routes and formats receive a forge and apply no rule. The contract would become a base class.',
      { path: '^src/', pathNot: [CORE, '^src/index[.]ts$'] },
      { path: [CORE, CONTRACT], dependencyTypesNot: ['type-only', 'type-import'] },
    ),
    rule(
      'features-are-independent',
      'A feature can be read, changed and removed alone. What two of them need is beside them.',
      { path: '^src/core/([^/]+)/' },
      { path: '^src/core/[^/]+/', pathNot: '^src/core/$1/' },
    ),
    rule(
      'routes-are-independent',
      'The routes of a service can be read, changed and removed alone. What two of them need is beside them.',
      { path: `${ROUTES}(${SERVICES})[.]ts$` },
      { path: `${ROUTES}(${SERVICES})[.]ts$` },
    ),
    rule(
      'contracts-import-entries',
      'A contract tests what the package exports. Options are checked as those of every other function.',
      { path: '^src/testing/' },
      { path: '^src/', pathNot: ['^src/testing/', '^src/schema/(arguments|options)[.]ts$', ...ENTRIES] },
    ),
    rule(
      'app-imports-the-package',
      'The ready server is a host like others: it imports what the package exports, by the name that every host has for it.',
      { path: APP },
      { path: '^src/', dependencyTypesNot: ['aliased-tsconfig-paths'] },
    ),
    rule('nothing-imports-app', 'The library runs without the ready server.', { path: '^src/' }, { path: APP }),
    rule(
      'drivers-are-loaded-when-used',
      'They are optional. Load one when a file or URL is opened: by import(), or createRequire where it must not wait.',
      { path: '^(src|app)/' },
      { path: `(^|/)node_modules/(@types/)?(${DRIVERS})/`, dependencyTypesNot: ['require', 'dynamic-import'] },
    ),
    rule(
      'a-dependency-is-a-decision',
      'Published code imports no tests, and no package that is not listed here. Frameworks are typed by the subset we call.',
      { path: '^(src|app)/' },
      {
        pathNot: [
          '^(src|app)/',
          '^(package|schema/[a-z]+)[.]json$',
          `(^|/)node_modules/(@types/)?(${PACKAGES}|${DRIVERS})/`,
        ],
        dependencyTypesNot: ['core'],
        couldNotResolve: false,
      },
    ),
    rule(
      'portable-modules-import-no-node',
      'These modules run on Workers, Bun and Deno. Exceptions are the adapter of Node, and the files that open files or load a driver.',
      {
        path: ['^src/index[.]ts$', SCHEMA, CORE, '^src/storage/', '^src/http-adapters/', '^src/exchange/'],
        pathNot: [
          '^src/storage/(sqlite[.]ts$|sql/sqlite/|sql/servers/(pools|turns|statement-names)[.]ts$)',
          '^src/exchange/files',
          '^src/http-adapters/node/',
        ],
      },
      { dependencyTypes: ['core'] },
    ),
    rule(
      'no-cycles',
      'Files that import each other, even as types, can only be read together. Merge them, or move what both need.',
      {},
      { circular: true },
    ),
    rule('every-import-resolves', 'One that does not resolve escapes every other rule.', {}, { couldNotResolve: true }),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true, // otherwise type imports are not seen
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'require', 'node', 'default'] },
  },
}
