/** Serves with a fixture. */
export const fixture = (name: string): readonly string[] => ['serve', '--port', '0', '--fixture', name]

/** Serves from a database. */
export const database = (name: string): readonly string[] => ['serve', '--port', '0', '--db', name]

/** A command line that is refused, maybe one with a port that is in use, how it ends, and what it says. */
export type Refusal = readonly [
  title: string,
  args: readonly string[] | ((port: number) => readonly string[]),
  code: number,
  line: string,
]

/** What is refused when it begins to serve. */
export const REFUSED: readonly Refusal[] = [
  [
    'an unknown fixture field',
    fixture('unknown-field.json'),
    1,
    'fixture unknown-field.json has 1 mistake\n  /users/0/nick: unknown field: remove it or correct its name\n',
  ],
  [
    'a dangling name',
    fixture('dangling.json'),
    1,
    'fixture dangling.json has 1 mistake\n  /organizations/0/owners/0: "bob" is not one of the users: add it there or correct the name',
  ],
  [
    'several mistakes',
    fixture('many.json'),
    1,
    `fixture many.json has 3 mistakes\n${['/a', '/b', '/c'].map((pointer) => `  ${pointer}: unknown field: remove it or correct its name\n`).join('')}`,
  ],
  [
    'more pins than the limit',
    [...fixture('pins.json'), '--max-pins', '0'],
    1,
    'fixture pins.json has 1 mistake\n  /repositories/0/pins/0: at most 0 issues can be pinned',
  ],
  [
    'a fixture that is not there',
    fixture('nowhere.json'),
    1,
    'fixture nowhere.json cannot be read: the file does not exist',
  ],
  ['a folder as fixture', fixture('a-folder'), 1, 'fixture a-folder cannot be read: it is a directory'],
  ['a fixture that is not JSON', fixture('broken.json'), 1, 'fixture broken.json is not valid JSON: '],
  ['a fixture that is not YAML', fixture('broken.yaml'), 1, 'fixture broken.yaml is not valid YAML: '],
  [
    'a key of a fixture that is there twice',
    fixture('twice.json'),
    1,
    'fixture twice.json is not valid JSON: Map keys must be unique at line 1, column 32',
  ],
  ['a key twice, once in escapes', fixture('twice-escaped.json'), 1, 'is not valid JSON: Map keys must be unique'],
  ['a fixture with something after it', fixture('trailing.json'), 1, 'fixture trailing.json is not valid JSON: '],
  [
    'a number that JSON cannot keep',
    fixture('unsafe.json'),
    1,
    'fixture unsafe.json has 1 mistake\n  /repositories/0/issues/0/index: must be at most 9007199254740991\n',
  ],
  ["a fixture's key that is not there", fixture('bad-key.json'), 1, 'nowhere.asc'],
  ['a key that is not there', ['serve', '--signing-key', 'nowhere.asc'], 1, 'signing key nowhere.asc: '],
  ['an invalid key', ['serve', '--signing-key', 'no-key.asc'], 1, 'signing key no-key.asc: '],
  [
    'an occupied port',
    (port) => ['serve', '--port', String(port)],
    2,
    'is in use: stop the other program, or choose another with --port',
  ],
  [
    'a host that is not an address of this machine',
    ['serve', '--port', '0', '--host', '203.0.113.7'],
    2,
    '--host 203.0.113.7: cannot listen there',
  ],
  [
    'a server that is not there',
    database('postgres://u:secret@127.0.0.1:1/forge'),
    3,
    'database postgres://127.0.0.1:1/forge cannot be used: the server refuses connections: check that it runs, and the host and the port (ECONNREFUSED)\n',
  ],
  [
    'a MariaDB that is not there',
    database('mysql://u:secret@127.0.0.1:1/forge'),
    3,
    'database mysql://127.0.0.1:1/forge cannot be used: the server refuses connections: check that it runs, and the host and the port (ECONNREFUSED)\n',
  ],
  [
    'a URL without a database',
    database('mysql://u:secret@127.0.0.1:1'),
    2,
    'the URL mysql://127.0.0.1:1 names no database: write mysql://user@host/database\n',
  ],
  ...['newer.sqlite', 'newer-host.sqlite'].map(
    (name) =>
      [
        `a newer schema: ${name}`,
        database(name),
        3,
        `database ${name} cannot be used: its tables have version 9999, newer than this release supports: install a newer forgelet, or name another file with --db\n`,
      ] as const,
  ),
  ...['accounts', 'schema', 'pins', 'ledger'].map(
    (name) =>
      [
        `a database of another program: ${name}`,
        database(`foreign-${name}.sqlite`),
        3,
        `database foreign-${name}.sqlite cannot be used: it holds tables of another program: name another file\n`,
      ] as const,
  ),
  [
    'a database with the forge of an application',
    [...database('application.sqlite'), '--fixture', 'world.json'],
    3,
    "database application.sqlite cannot be used: it holds the forge of an application and none of this server's tables: name another file\n",
  ],
  [
    'a database that lost a table',
    [...database('half.sqlite'), '--fixture', 'world.json'],
    3,
    'database half.sqlite cannot be used: the database failed: no such table: host_accounts\n',
  ],
  [
    'what is not a database',
    database('no-database.sqlite'),
    3,
    'database no-database.sqlite cannot be used: it is not an SQLite database: name another file',
  ],
  [
    'a folder as database',
    database('a-folder'),
    3,
    'database a-folder cannot be used: it is a directory: name a file in it',
  ],
  [
    'a device as database',
    database('/dev/null'),
    3,
    'database /dev/null cannot be used: it is a pipe or a device: name an ordinary file',
  ],
  [
    'a database in no folder',
    database('nowhere/forge.sqlite'),
    3,
    'database nowhere/forge.sqlite cannot be used: its directory does not exist',
  ],
]

/** What is refused before that. */
export const WRONG_USAGE: readonly Refusal[] = [
  ['a negative port', ['serve', '--port', '-1'], 2, '--port -1: give an integer from 0 to 65535'],
  ['a port too high', ['serve', '--port=65536'], 2, '--port 65536: give an integer from 0 to 65535'],
  ['a port that is a word', ['serve', '--port', 'http'], 2, '--port http: give an integer'],
  ['half a pin', ['serve', '--max-pins', '1.5'], 2, '--max-pins 1.5: give an integer from 0 to 1000'],
  ['too many pins', ['serve', '--max-pins', '1001'], 2, '--max-pins 1001: give an integer from 0 to 1000'],
  ['an invalid public URL', ['serve', '--public-url', 'example.com'], 2, '--public-url: give an http or https address'],
  ['a public address of another kind', ['serve', '--public-url', 'ftp://example.com'], 2, '--public-url: give an http'],
  [
    'a public address with a password',
    ['serve', '--public-url', 'https://a:b@example.com'],
    2,
    '--public-url: give an http',
  ],
  [
    'an unknown option',
    ['serve', '--prot', '3000'],
    2,
    'unknown option --prot: "forgelet serve --help" lists the options',
  ],
  ['an unknown letter', ['serve', '-x'], 2, 'unknown option -x'],
  ['an option without its value', ['serve', '--db'], 2, '--db needs a value'],
  ['an option in the place of a value', ['serve', '--db', '--port', '0'], 2, '--db needs a value'],
  ['an empty value', ['serve', '--db='], 2, '--db needs a value'],
  ['a value that is not taken', ['serve', '--help=no'], 2, '--help takes no value'],
  ['a blank database', ['serve', '--db', ' \t'], 2, '--db is blank: give a URL or a file'],
  [
    'an unknown command',
    ['server'],
    2,
    'unknown command "server": the commands are "serve", "schema", "issues", "token", "doctor" and "openapi"',
  ],
  ['no command', [], 2, 'no command given: try "forgelet serve"'],
  ['a word too many for openapi', ['openapi', 'openapi.json'], 2, 'unexpected argument "openapi.json": name the file'],
  [
    'a folder in the place of a file',
    ['openapi', '-o', 'a-folder'],
    2,
    '--out a-folder cannot be written: it is a directory',
  ],
  [
    'a file in no folder',
    ['openapi', '--out', 'no/x.json'],
    2,
    '--out no/x.json cannot be written: the directory does not exist',
  ],
  ['an option of another command', ['openapi', '--port', '0'], 2, 'unknown option --port: "forgelet openapi --help"'],
  ['an invalid public URL of a document', ['openapi', '--public-url', 'x'], 2, '--public-url: give an http'],
  ['a word too many', ['serve', 'fixture.json'], 2, 'unexpected argument "fixture.json"'],
  [
    'a database of another kind',
    database('oracle://u:secret@db.example.com/forge'),
    2,
    '--db oracle://: give a postgres:// or mysql:// URL, or an SQLite file',
  ],
  [
    'a schema in a file',
    [...database('new.sqlite'), '--schema', 'forge'],
    2,
    '--schema is for PostgreSQL: leave it out, or give a postgres:// URL with --db',
  ],
  [
    'an invalid prefix',
    [...database('new.sqlite'), '--prefix', 'Forge'],
    2,
    'prefix must be 1 to 31 lower-case letters',
  ],
  [
    'an invalid schema',
    [...database('postgres://u:secret@db.example.com/forge'), '--schema', 'a-b'],
    2,
    'schema must be 1 to 63 letters',
  ],
]
