// The boundaries of the codebase: which module may import what, and why. ARCHITECTURE.md shows the modules.
// test/codebase/boundaries.long.test.ts plants a violation of every rule below and checks that it is found.

// The modules. A file that belongs to none of them violates `every-file-has-a-module`.
const SCHEMA = '^src/schema/(?!documents/|schema[.]ts$)'
const DOCUMENTS = '^src/schema/documents/'
const CONTRACT = '^src/storage/contract/'
const MEMORY = '^src/storage/memory/'
const SQL = '^src/storage/sql/'
const CORE = '^src/core/'
const ROUTES = '^src/http-adapters/routes/'
const NODE = '^src/http-adapters/node/'
const EXPRESS = '^src/http-adapters/express/'
const FETCH = '^src/http-adapters/fetch/'
const SIGNING_KEYS = '^src/signing-keys/'
const EXCHANGE = '^src/exchange/'
const LIBRARY = [SCHEMA, DOCUMENTS, CONTRACT, MEMORY, SQL, CORE, ROUTES, NODE, EXPRESS, FETCH, SIGNING_KEYS, EXCHANGE]

const STANDALONE = '^src/standalone/'
const HOST_STORE = '^src/standalone/host-store/'
const TESTING = '^src/testing/'
const CLI = '^src/cli/'
const APPLICATIONS = [STANDALONE, TESTING, CLI]

// The entry files: what package.json exports.
const INDEX = '^src/index[.]ts$'
const SCHEMA_ENTRY = '^src/schema/schema[.]ts$'
const STORAGE_ENTRIES = '^src/storage/[^/]+[.]ts$'
const HTTP_ENTRIES = '^src/http-adapters/[^/]+[.]ts$'
const KEYS_ENTRY = '^src/signing-keys/signing-keys[.]ts$'
const EXCHANGE_ENTRIES = '^src/exchange/(exchange|files)[.]ts$'
const LIBRARY_ENTRIES = [INDEX, SCHEMA_ENTRY, STORAGE_ENTRIES, HTTP_ENTRIES, KEYS_ENTRY, EXCHANGE_ENTRIES]
const APPLICATION_ENTRIES = ['standalone', 'testing', 'cli'].map((name) => `^src/${name}/${name}[.]ts$`)

const TYPES = ['type-only', 'type-import']

const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to })

/** A module of the library, and the files that it may import. Imports of entry files have a rule of their own. */
const libraryModule = (name, from, mayImport, comment) =>
  rule(
    name,
    comment,
    { path: from },
    { path: '^src/', pathNot: [...mayImport, ...LIBRARY_ENTRIES, ...APPLICATION_ENTRIES] },
  )

/** An application may import its own files, the entry files of the library, and the listed applications. */
const application = (name, from, mayImport, comment) =>
  rule(name, comment, { path: from }, { path: '^src/', pathNot: [from, ...LIBRARY_ENTRIES, ...mayImport] })

/** A module that may import another one as types only. */
const typesOnly = (name, from, to, comment) =>
  rule(name, comment, { path: from }, { path: to, dependencyTypesNot: TYPES })

/**
 * A folder whose folders are features: all of them, except the one that is shared. Features import the shared folder and
 * the files beside them, but never each other. The shared folder imports no feature.
 */
const features = (name, folder, shared, comment) =>
  rule(name, comment, { path: `${folder}([^/]+)/` }, { path: `${folder}(?!${shared}/)[^/]+/`, pathNot: `${folder}$1/` })

/** An npm package, and the only modules that may import it. */
const packageOf = (name, packages, modules, comment) =>
  rule(
    name,
    comment,
    { path: '^src/', ...(modules.length > 0 && { pathNot: modules }) },
    // A require inside a function is the lazy load that an optional package needs.
    { path: `(^|/)node_modules/(@types/)?(${packages})/`, dependencyTypesNot: ['require'] },
  )

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    // The modules of the library.
    libraryModule(
      'index-exports-core-and-schema',
      INDEX,
      [CORE, SCHEMA],
      '`import "forgelet"` is the core and the shared types. It loads neither zod nor a storage nor an adapter.',
    ),
    libraryModule(
      'schema-imports-nothing',
      SCHEMA,
      [SCHEMA],
      'The shared types import nothing, so that every module can import them.',
    ),
    libraryModule(
      'documents-import-schema',
      `${DOCUMENTS}|${SCHEMA_ENTRY}`,
      [SCHEMA, DOCUMENTS],
      'The schemas of exchange documents describe data. They need the shared types and no service.',
    ),
    libraryModule(
      'contract-imports-schema',
      CONTRACT,
      [CONTRACT, SCHEMA],
      'The author of a storage reads the contract alone. It consists of shared types, not of services.',
    ),
    rule(
      'contract-has-no-runtime-code',
      'The contract is types. A runtime import would make it a base class.',
      { path: CONTRACT },
      { dependencyTypesNot: TYPES },
    ),
    typesOnly(
      'contract-is-imported-as-types',
      `^src/(?!storage/contract/)`,
      CONTRACT,
      'The contract is types, so importing it must cost nothing at run time.',
    ),
    libraryModule(
      'core-imports-schema-and-contract',
      CORE,
      [CORE, SCHEMA, CONTRACT],
      'The rules run without HTTP, without a database and without zod. Tests and Workers use the core alone.',
    ),
    features(
      'core-features-are-independent',
      CORE,
      'access',
      'A feature can be read, changed and removed alone. What two features need is beside them in core/.',
    ),
    libraryModule(
      'memory-imports-contract',
      MEMORY,
      [MEMORY, CONTRACT, SCHEMA],
      'A storage keeps state and decides nothing. It imports the contract, never the services.',
    ),
    libraryModule(
      'sql-imports-contract',
      SQL,
      [SQL, CONTRACT, SCHEMA],
      'A storage keeps state and decides nothing. It imports the contract, never the services or another storage.',
    ),
    libraryModule(
      'memory-entry-exports-memory',
      '^src/storage/memory[.]ts$',
      [MEMORY, CONTRACT, SCHEMA],
      'A program that uses the memory storage must not load Kysely.',
    ),
    libraryModule(
      'sql-entries-export-sql',
      '^src/storage/(sqlite|postgres|mysql|kysely|durable-object)[.]ts$',
      [SQL, CONTRACT, SCHEMA],
      'The entry file of a storage exports its module and does nothing else.',
    ),
    libraryModule(
      'contract-entry-exports-contract',
      '^src/storage/storage[.]ts$',
      [CONTRACT],
      'The author of a storage gets the contract and none of our storages.',
    ),
    libraryModule(
      'routes-import-core-and-schema',
      ROUTES,
      [ROUTES, CORE, '^src/schema/'],
      'Routes translate between HTTP and the core. They depend on no server (Node, Express, Fetch) and no storage.',
    ),
    typesOnly(
      'routes-import-core-as-types',
      ROUTES,
      CORE,
      'The routes receive a forge. They never create one, and never apply a rule.',
    ),
    features(
      'route-features-are-independent',
      ROUTES,
      'openapi',
      'The routes of a feature can be read, changed and removed alone. What two features need is beside them in routes/.',
    ),
    libraryModule(
      'http-entry-exports-routes',
      '^src/http-adapters/http[.]ts$',
      [ROUTES],
      'The author of an adapter gets the routes and none of our adapters.',
    ),
    libraryModule(
      'node-adapter-imports-routes',
      `${NODE}|^src/http-adapters/node[.]ts$`,
      [NODE, ROUTES],
      'Adapters only translate messages. An adapter that imported a service would decide something.',
    ),
    libraryModule(
      'express-adapter-imports-routes',
      `${EXPRESS}|^src/http-adapters/express[.]ts$`,
      [EXPRESS, NODE, ROUTES],
      'An Express request is a Node request with additions. The adapter translates those, and decides nothing.',
    ),
    libraryModule(
      'fetch-adapter-imports-routes',
      `${FETCH}|^src/http-adapters/fetch[.]ts$`,
      [FETCH, ROUTES],
      'Runtimes with Fetch may not have Node. The adapter translates messages, and decides nothing.',
    ),
    libraryModule(
      'signing-keys-import-core-and-schema',
      SIGNING_KEYS,
      [SIGNING_KEYS, CORE, '^src/schema/'],
      'Reading keys needs neither a storage nor HTTP.',
    ),
    typesOnly(
      'signing-keys-import-core-as-types',
      SIGNING_KEYS,
      CORE,
      'A key source implements a port of the core. It calls nothing there.',
    ),
    libraryModule(
      'exchange-imports-core-and-schema',
      EXCHANGE,
      [EXCHANGE, CORE, '^src/schema/'],
      'Reading and writing issue documents needs neither a storage nor HTTP.',
    ),
    rule(
      'exchange-does-not-open-files',
      'Documents are read and written as bytes, so that Workers can do it too. Files are opened by files/ alone.',
      { path: EXCHANGE, pathNot: '^src/exchange/(files[.]ts$|files/)' },
      { path: '^src/exchange/(files[.]ts$|files/)' },
    ),
    typesOnly(
      'exchange-imports-core-as-types',
      EXCHANGE,
      CORE,
      'The exchange reads and writes documents. The core decides who may import them.',
    ),

    // The applications.
    application(
      'standalone-is-an-application',
      '^src/standalone/(?!host-store/)',
      [STANDALONE],
      'The standalone host proves that a host can be written with what the package exports.',
    ),
    application(
      'host-store-uses-the-sql-storage',
      HOST_STORE,
      [STANDALONE, SQL, SCHEMA],
      "The tables of the standalone host are beside the forge's, on the same connections: with the storage's dialects, deadlines and migrations, not with a second set of them.",
    ),
    application(
      'testing-is-an-application',
      TESTING,
      [STANDALONE],
      'The test kit imports what its users can import: entry files.',
    ),
    application(
      'cli-is-an-application',
      CLI,
      [STANDALONE],
      'The command line does nothing that a program could not do: it imports entry files.',
    ),
    rule(
      'entries-are-for-applications',
      'Entry files show the library from outside. Inside, import the file with the definition, or every module depends on all others.',
      { path: '^src/', pathNot: APPLICATIONS },
      { path: [...LIBRARY_ENTRIES, ...APPLICATION_ENTRIES] },
    ),

    // Packages, each with the modules that need it.
    packageOf(
      'zod-is-for-documents-and-fixtures',
      'zod',
      [DOCUMENTS, STANDALONE],
      'zod costs 60 ms and 90 kB. A program that reads no documents must not load it.',
    ),
    packageOf(
      'kysely-is-for-sql',
      'kysely',
      [SQL, HOST_STORE],
      'Only the module sql and the store of the standalone host work with rows.',
    ),
    packageOf(
      'openpgp-is-for-signing-keys',
      'openpgp',
      [SIGNING_KEYS],
      'The key library is large. A program that serves no key must not load it.',
    ),
    packageOf(
      'yaml-is-for-exchange-and-cli',
      'yaml',
      [EXCHANGE, CLI],
      'YAML is a file format. Only modules that open files need it.',
    ),
    packageOf(
      'drivers-are-never-imported',
      'better-sqlite3|pg|mysql2',
      [],
      'They are optional: a host that passes its own handle or pool may not have them. Load one with createRequire when a file or URL is opened.',
    ),
    rule(
      'no-other-package',
      'A dependency is a decision. Name it here with its modules and its reason. Frameworks and drivers are typed by the subset we call.',
      { path: '^src/' },
      {
        path: '(^|/)node_modules/',
        pathNot: '(^|/)node_modules/(@types/)?(zod|kysely|openpgp|yaml|better-sqlite3|pg|mysql2)/',
      },
    ),

    // Outside of src/.
    rule(
      'portable-modules-import-no-node',
      'These modules run on Workers, Bun and Deno. Exceptions are the files that open files or load a driver.',
      {
        path: [INDEX, '^src/schema/', '^src/storage/', CORE, '^src/http-adapters/', EXCHANGE],
        pathNot: [
          '^src/storage/(sqlite[.]ts$|sql/sqlite/|sql/clients/(pg|mysql2)-driver[.]ts$)',
          '^src/exchange/(files[.]ts$|files/)',
        ],
      },
      { dependencyTypes: ['core'] },
    ),
    rule(
      'source-imports-no-tests',
      'Published code cannot import code that is not published.',
      { path: '^src/' },
      {
        pathNot: ['^src/', '(^|/)node_modules/', '^package[.]json$'],
        dependencyTypesNot: ['core'],
        couldNotResolve: false,
      },
    ),

    // All files.
    rule(
      'every-file-has-a-module',
      'No rule says what this file may import. Move it into a module, or define its folder as a module here.',
      { path: '^src/', pathNot: [...LIBRARY, ...APPLICATIONS, ...LIBRARY_ENTRIES] },
      {},
    ),
    rule(
      'no-cycles',
      'Files that import each other, even as types, can only be read together, and their load order may be arbitrary. Merge them, or move what both need into the lower one.',
      {},
      { circular: true },
    ),
    rule(
      'every-import-resolves',
      'An import that does not resolve escapes every other rule.',
      {},
      { couldNotResolve: true },
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true, // otherwise type imports are not seen
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'require', 'node', 'default'] },
  },
}
