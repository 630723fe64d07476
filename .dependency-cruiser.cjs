// The doors of the house: which room may import what, and why. ARCHITECTURE.md shows the rooms.
// test/house/doors.test.ts plants a violation of every rule below and sees it refused.

// The rooms.
const WORDS = '^src/schema/(?!documents/|schema[.]ts$)'
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
const STANDALONE = '^src/standalone/'
const TESTING = '^src/testing/'
const CLI = '^src/cli/'

// The entry files: what package.json exports.
const FRONT_DOOR = '^src/index[.]ts$'
const SCHEMA_ENTRY = '^src/schema/schema[.]ts$'
const STORAGE_ENTRIES = '^src/storage/[^/]+[.]ts$'
const HTTP_ENTRIES = '^src/http-adapters/[^/]+[.]ts$'
const KEYS_ENTRY = '^src/signing-keys/signing-keys[.]ts$'
const EXCHANGE_ENTRY = '^src/exchange/exchange[.]ts$'
const STANDALONE_ENTRY = '^src/standalone/standalone[.]ts$'
const TESTING_ENTRY = '^src/testing/testing[.]ts$'
const CLI_ENTRY = '^src/cli/cli[.]ts$'

const HOUSE_ENTRIES = [FRONT_DOOR, SCHEMA_ENTRY, STORAGE_ENTRIES, HTTP_ENTRIES, KEYS_ENTRY, EXCHANGE_ENTRY]
const GUEST_ENTRIES = [STANDALONE_ENTRY, TESTING_ENTRY, CLI_ENTRY]
const GUESTS = [STANDALONE, TESTING, CLI]

const TYPES = ['type-only', 'type-import']
const FEATURES = 'pins|blocks|badges|signing-keys|exchange|lifecycle|events'

const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to })

/** A room of the house, and the files it may import. Entry files have a rule of their own. */
const room = (name, from, mayImport, comment) =>
  rule(name, comment, { path: from }, { path: '^src/', pathNot: [...mayImport, ...HOUSE_ENTRIES, ...GUEST_ENTRIES] })

/** A guest: its own files, the entry files of the house, and what else it may import. */
const guest = (name, from, mayImport, comment) =>
  rule(name, comment, { path: from }, { path: '^src/', pathNot: [from, ...HOUSE_ENTRIES, ...mayImport] })

/** A room from which another is seen as types only. */
const typesOnly = (name, from, to, comment) =>
  rule(name, comment, { path: from }, { path: to, dependencyTypesNot: TYPES })

/** An npm package, and the only rooms that may import it. */
const packageOf = (name, packages, rooms, comment) =>
  rule(
    name,
    comment,
    { path: '^src/', ...(rooms.length > 0 && { pathNot: rooms }) },
    // A require inside a function is the lazy load that an optional package needs.
    { path: `(^|/)node_modules/(@types/)?(${packages})/`, dependencyTypesNot: ['require'] },
  )

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    // Rooms.
    room(
      'front-door-shows-core-and-words',
      FRONT_DOOR,
      [CORE, WORDS],
      '`import "forgelet"` is the core and its words: it never loads zod, a storage or an adapter.',
    ),
    room(
      'words-stand-on-the-ground',
      WORDS,
      [WORDS],
      'The words are the ground floor: they know nothing, so that everyone may know them.',
    ),
    room(
      'documents-know-the-words',
      `${DOCUMENTS}|${SCHEMA_ENTRY}`,
      [WORDS, DOCUMENTS],
      'The schemas of exchange documents describe data; they need the words and no service.',
    ),
    room(
      'contract-knows-the-words',
      CONTRACT,
      [CONTRACT, WORDS],
      'Whoever writes a storage reads the contract alone: it is made of words, not of services.',
    ),
    rule(
      'contract-is-not-one-runtime-line',
      'The contract is types: a runtime import would make it a base class in disguise.',
      { path: CONTRACT },
      { dependencyTypesNot: TYPES },
    ),
    typesOnly(
      'contract-is-seen-as-types',
      `^src/(?!storage/contract/)`,
      CONTRACT,
      'The contract is types, so importing it must cost nothing at run time.',
    ),
    room(
      'core-knows-words-and-contract',
      CORE,
      [CORE, WORDS, CONTRACT],
      'The rules run without HTTP, without a database and without zod: a tester and a Worker use the core alone.',
    ),
    rule(
      'features-keep-apart',
      'A feature can be read, changed and switched off alone; what two of them need stands beside them in core/.',
      { path: `${CORE}(${FEATURES})/` },
      { path: `${CORE}(${FEATURES})/`, pathNot: `${CORE}$1/` },
    ),
    room(
      'memory-knows-the-contract',
      MEMORY,
      [MEMORY, CONTRACT, WORDS],
      'A storage keeps state and decides nothing: it knows the contract, never the services.',
    ),
    room(
      'sql-knows-the-contract',
      SQL,
      [SQL, CONTRACT, WORDS],
      'A storage keeps state and decides nothing: it knows the contract, never the services or another storage.',
    ),
    room(
      'memory-entry-opens-its-room',
      '^src/storage/memory[.]ts$',
      [MEMORY, CONTRACT, WORDS],
      'Who uses the memory storage must not load Kysely.',
    ),
    room(
      'sql-entries-open-their-room',
      '^src/storage/(sqlite|postgres|mysql|kysely|durable-object)[.]ts$',
      [SQL, CONTRACT, WORDS],
      'An entry of a storage is a door to its room and does nothing else.',
    ),
    room(
      'contract-entry-opens-its-room',
      '^src/storage/storage[.]ts$',
      [CONTRACT],
      'Who writes a storage gets the contract and no storage of ours.',
    ),
    room(
      'routes-know-core-and-schema',
      ROUTES,
      [ROUTES, CORE, '^src/schema/'],
      'Routes speak HTTP and the core: what runs them (Node, Express, Fetch) and what stores is not their business.',
    ),
    typesOnly(
      'routes-see-core-as-types',
      ROUTES,
      CORE,
      'The routes are handed a forge; they never make one or decide a rule.',
    ),
    room(
      'http-entry-opens-the-routes',
      '^src/http-adapters/http[.]ts$',
      [ROUTES],
      'Who writes an adapter gets the routes and no adapter of ours.',
    ),
    room(
      'node-adapter-translates-routes',
      `${NODE}|^src/http-adapters/node[.]ts$`,
      [NODE, ROUTES],
      'Adapters translate only, message in, message out: one that knows a service would decide something.',
    ),
    room(
      'express-adapter-translates-routes',
      `${EXPRESS}|^src/http-adapters/express[.]ts$`,
      [EXPRESS, NODE, ROUTES],
      'An Express request is one of Node with more on it: the adapter translates that more, and decides nothing.',
    ),
    room(
      'fetch-adapter-translates-routes',
      `${FETCH}|^src/http-adapters/fetch[.]ts$`,
      [FETCH, ROUTES],
      'Where Fetch is spoken there may be no Node: the adapter translates for the routes, and decides nothing.',
    ),
    room(
      'signing-keys-know-core-and-schema',
      SIGNING_KEYS,
      [SIGNING_KEYS, CORE, '^src/schema/'],
      'Reading keys is reading keys: no storage, no HTTP.',
    ),
    typesOnly(
      'signing-keys-see-core-as-types',
      SIGNING_KEYS,
      CORE,
      'A key source implements a port of the core; it calls nothing there.',
    ),
    room(
      'exchange-knows-core-and-schema',
      EXCHANGE,
      [EXCHANGE, CORE, '^src/schema/'],
      'Reading and writing issue documents is about documents: no storage, no HTTP.',
    ),
    typesOnly(
      'exchange-sees-core-as-types',
      EXCHANGE,
      CORE,
      'The exchange reads and writes documents; who may import them is decided in the core.',
    ),

    // Guests.
    guest(
      'standalone-is-a-guest',
      STANDALONE,
      [],
      'The standalone host is the proof that a host can be written with what the package exports.',
    ),
    guest('testing-is-a-guest', TESTING, [STANDALONE], 'The test kit is a guest too: what it needs, a tester has.'),
    guest('cli-is-a-guest', CLI, [STANDALONE], 'The command line is a guest too: what it can do, a program can do.'),
    rule(
      'entries-are-for-guests',
      'Entry files are the house seen from outside: inside, import the file that has the thing, or everything hangs together.',
      { path: '^src/', pathNot: GUESTS },
      { path: [...HOUSE_ENTRIES, ...GUEST_ENTRIES] },
    ),

    // Packages, each in the rooms that need it.
    packageOf(
      'zod-describes-documents-and-fixtures',
      'zod',
      [DOCUMENTS, STANDALONE],
      'zod costs 60 ms and 90 kB: whoever does not read documents must not load it.',
    ),
    packageOf('kysely-speaks-sql', 'kysely', [SQL, STANDALONE], 'Rows are the business of the room sql alone.'),
    packageOf(
      'key-libraries-stay-with-the-keys',
      'openpgp',
      [SIGNING_KEYS],
      'The key library is heavy: who serves no key must not load it.',
    ),
    packageOf(
      'yaml-stays-with-documents-and-cli',
      'yaml',
      [EXCHANGE, CLI],
      'YAML is a file format: only rooms that open files know it.',
    ),
    packageOf(
      'drivers-are-never-imported',
      'better-sqlite3|pg|mysql2',
      [],
      'They are optional: a host that brings its own handle or pool has none. Load one with createRequire when a file or URL is opened.',
    ),
    rule(
      'no-other-package',
      'A dependency is a decision: name it here with its room and reason. Frameworks and drivers are typed by the subset we call.',
      { path: '^src/' },
      {
        path: '(^|/)node_modules/',
        pathNot: '(^|/)node_modules/(@types/)?(zod|kysely|openpgp|yaml|better-sqlite3|pg|mysql2)/',
      },
    ),

    // The world outside.
    rule(
      'portable-rooms-know-no-node',
      'These rooms run on Workers, Bun and Deno. SQLite opens files, so what opens it may; so may what loads a driver.',
      {
        path: [FRONT_DOOR, '^src/schema/', '^src/storage/', CORE, '^src/http-adapters/'],
        pathNot: '^src/storage/(sqlite[.]ts$|sql/sqlite/|sql/(postgres/load-pg|mysql/load-mysql2)[.]ts$)',
      },
      { dependencyTypes: ['core'] },
    ),
    rule(
      'source-knows-no-tests',
      'What is published cannot import what is not.',
      { path: '^src/' },
      {
        pathNot: ['^src/', '(^|/)node_modules/', '^package[.]json$'],
        dependencyTypesNot: ['core'],
        couldNotResolve: false,
      },
    ),

    // The whole.
    rule(
      'every-file-has-a-room',
      'A file outside the rooms has no door rule: give it a room, or give the new room its rule here.',
      {
        path: '^src/',
        pathNot: [
          WORDS,
          DOCUMENTS,
          CONTRACT,
          MEMORY,
          SQL,
          CORE,
          ROUTES,
          NODE,
          EXPRESS,
          FETCH,
          SIGNING_KEYS,
          EXCHANGE,
          ...GUESTS,
          ...HOUSE_ENTRIES,
        ],
      },
      {},
    ),
    rule(
      'no-circles',
      'Files that need each other at run time are one file in two halves, and load in an order nobody chose.',
      {},
      { circular: true, viaOnly: { dependencyTypesNot: TYPES } },
    ),
    rule(
      'everything-resolves',
      'An import that leads nowhere escapes every other rule.',
      {},
      { couldNotResolve: true },
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true, // or type imports go unseen
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'require', 'node', 'default'] },
  },
}
