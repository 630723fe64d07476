/** A promise of a page of the manual: a sentence of it, and the test that holds it. */
export type Promised = readonly [sentence: string, file: string, title: string]

const HOST = 'test/storage/host-transactions.ts'
const CONSUME = 'test/core/events/consume.test.ts'

/** What the pages promise beyond what their blocks show. The blocks themselves are run by `manual.servers.test.ts`. */
export const PROMISES: Readonly<Record<string, readonly Promised[]>> = {
  '04-what-your-application-must-do': [
    [
      'one migrates, the others wait.',
      'test/storage/schema-suite.ts',
      'ten processes that migrate at once all end well, and one set of tables is there',
    ],
    [
      'Without it, the first call is [`SCHEMA_OUTDATED`](../reference/errors.md#schema_outdated)',
      'test/storage/schema-suite.ts',
      'is SCHEMA_OUTDATED until it is migrated',
    ],
    [
      'the deleted issue keeps its place on the board, which may have only three, and no client can unpin it.',
      'test/http-adapters/cases/pin-cases.ts',
      'a pinned thing that the presenter does not know is left out',
    ],
    [
      'Without the call, a user who joins while an owner blocks them ends up both a member and blocked.',
      'src/testing/storage-contract/cases/overtaking-cases.ts',
      'a user who becomes a member while being blocked is never member and blocked',
    ],
    [
      'The exception rolls your insert back.',
      'test/model/model.test.ts',
      'agrees with the model on every answer, the whole state and every event, after every step',
    ],
    [
      'a file that the storage opened itself is closed by forge.close()',
      'test/storage/sql/sqlite/connections.test.ts',
      'leaves the handle of the host open on %s',
    ],
    [
      '`close` stops the consumers of events, which then release their leases.',
      CONSUME,
      'give the lease up when they end',
    ],
    [
      'Without it, another process waits half a minute before it takes over.',
      'src/testing/storage-contract/cases/consumer-cases.ts',
      'an expired lease is free, and its former holder moves nothing',
    ],
  ],
  '08-your-transaction': [
    [
      '`inTransaction` begins on a client of your pool, commits, and notifies listeners.',
      'test/storage/in-transaction.servers.test.ts',
      'what the forge and the host write is committed together, and then reported',
    ],
    [
      'it runs all of it again, up to ten times',
      'test/storage/in-transaction.servers.test.ts',
      'a transaction that is given up again and again is begun ten times',
    ],
    [
      'The isolation level is `read committed`, or the option',
      'test/storage/in-transaction.servers.test.ts',
      'the level of the transaction is the one that is asked for',
    ],
    [
      'Your rows and a change of forgelet are committed together, or neither is.',
      HOST,
      'what is done in it is committed with the host, and not seen outside before',
    ],
    ['forgelet runs in your transaction, on your connection.', HOST, 'what is done in it is rolled back with the host'],
    [
      'notifies listeners: after your COMMIT, and only then',
      HOST,
      'listeners are notified once the host has committed, and once',
    ],
    [
      'rolls back to its savepoint. Your rows and earlier calls stay',
      HOST,
      'a call that is refused leaves the rest of the transaction',
    ],
    [
      'The call, every later call and `withTransaction` fail with',
      'test/core/with-transaction.test.ts',
      'must not be committed, though the work caught the error',
    ],
    [
      'Roll back, and run all of it again, your statements too: `inTransaction` does.',
      HOST,
      'a deadlock gives one transaction up, for its host to run again, and lets the other go on',
    ],
    [
      'listeners in this process learn nothing.',
      HOST,
      'listeners are not notified of a transaction that the host rolls back',
    ],
    [
      'On MariaDB a statement that runs beside a lost transaction commits by itself.',
      'test/storage/mariadb.servers.test.ts',
      'a transaction that a deadlock has ended is run again as a whole, and nothing is written behind its end',
    ],
    ['Ports receive your transaction as `context.transaction`.', HOST, 'the ports get the transaction'],
    [
      '`beforeCommit` receives it as its second argument.',
      'test/storage/host-transaction.servers.test.ts',
      'a refused call leaves the rest of a transaction of any library, and beforeCommit receives that',
    ],
    [
      'A connection that is not in a transaction is a `TypeError`.',
      HOST,
      'a connection that is in no transaction is refused, and no work is begun there',
    ],
  ],
  '13-signing-keys': [
    [
      'only the public half is ever served.',
      'test/signing-keys/nothing-private.servers.test.ts',
      'however a file is damaged, neither the key nor an error holds',
    ],
    [
      '200, the SSH key; 404 if there is none, or if it is an OpenPGP key',
      'test/core/signing-keys/signing-key-service.test.ts',
      'names the format there is, without touching the key',
    ],
    [
      'The next request serves the new key, also in another format: no restart.',
      'test/signing-keys/changing-key-file.servers.test.ts',
      'has a key of the other format: each route answers what it must',
    ],
    [
      'A file that is missing or half written is waited for two seconds, and the last good key is served meanwhile.',
      'test/signing-keys/changing-key-file.servers.test.ts',
      'is served again without a line when it is whole before the two seconds are over',
    ],
    [
      'Then the answer is a 500, and the log names the file once.',
      'test/signing-keys/changing-key-file.servers.test.ts',
      'is named in the log of the forge, and the message of the error names nothing',
    ],
    [
      'So serve both: the current key, and former ones.',
      'test/signing-keys/rotating-key.test.ts',
      'of SSH are a line each, the current one first, and the same key twice is one',
    ],
    [
      'OpenPGP keys are one armored block',
      'test/signing-keys/rotating-key.test.ts',
      'of OpenPGP are one armored block, the current one first',
    ],
    [
      'Former keys may have the other format; each route serves those of its own.',
      'test/signing-keys/rotating-key.test.ts',
      'of both formats are served each by its own route',
    ],
    [
      'If your forge signs with `git commit -S`, git knows the key already',
      'test/signing-keys/git-config-key.servers.test.ts',
      'by SSH is found by %s',
    ],
    [
      'For OpenPGP, `gpg --export` gives the key.',
      'test/signing-keys/git-config-key.servers.test.ts',
      'by OpenPGP is found by %s',
    ],
    [
      'no request starts a program.',
      'test/signing-keys/git-config-key.servers.test.ts',
      'is looked for again when a file changes, and no request starts a program',
    ],
    [
      '`allowedSigners` writes that file',
      'test/signing-keys/describe-key.test.ts',
      'has a line for each key, for the principals and git alone',
    ],
  ],
  '14-import-and-export': [
    [
      'what is there and is the same is left.',
      'test/cli/issues/import.test.ts',
      'imports what export then writes, and nothing the second time',
    ],
    [
      'An import that broke off is finished by running it again',
      'test/cli/issues/import-kills.servers.test.ts',
      'times ends with exactly the document',
    ],
    [
      'See what is lost, then import.',
      'test/cli/issues/import.test.ts',
      'writes nothing with --dry-run, and reports what the import then does',
    ],
    [
      'A user who has left the project is called `user-` and the id',
      'test/cli/issues/import.test.ts',
      'names the people without an account, and finds those whom a file maps',
    ],
    [
      'confidential issues unless you say `--confidential keep`.',
      'test/cli/issues/issues.test.ts',
      'leaves confidential issues out, or keeps them',
    ],
    [
      'An import keeps names as text',
      'test/standalone/exchange/exchange-suite.ts',
      'puts nothing under the name of an account that is not attributed',
    ],
    [
      'With `--attribution accounts`, which is for site admins',
      'test/standalone/exchange/exchange-suite.ts',
      'puts issues under the accounts of their authors for a site admin alone',
    ],
    [
      'Later, give accounts to names that are there already',
      'test/cli/issues/import.test.ts',
      'gives accounts to names, says so, and changes nothing the second time',
    ],
    [
      'the import ends with [`IMPORT_CONFLICT`](../reference/errors.md#import_conflict), and nothing of that batch is written.',
      'test/exchange/imports/import.test.ts',
      'a conflict in the last batch leaves the database as it was',
    ],
    [
      '`--on-conflict skip` leaves the issue; `update` replaces it, and keeps its comments.',
      'src/testing/tracker-contract/tracker-contract.ts',
      'an update keeps the comments of the issue',
    ],
    [
      'a document of any size takes the same memory.',
      'test/exchange/documents/reading.test.ts',
      'is read no further than its reader is',
    ],
    [
      'each batch is one transaction, and may run again.',
      'test/exchange/imports/import.servers.test.ts',
      'a busy database is waited for',
    ],
  ],
  '15-events': [
    [
      'Every change is recorded as an event, in the transaction of the change.',
      'test/core/events/event-service.test.ts',
      'receive a change once it is committed',
    ],
    [
      'Throw, and the change is rolled back.',
      'test/core/events/event-service.test.ts',
      'sees the events before they are committed, and rolls the change back by throwing',
    ],
    [
      'On SQLite and in memory it must not return a promise.',
      'test/core/events/event-service.test.ts',
      'is refused a promise where nothing may wait, and the change with it',
    ],
    [
      'It may read through the forge, not change.',
      HOST,
      'a change that beforeCommit makes on the storage’s own transaction is refused',
    ],
    [
      'If the database aborts the attempt, it runs again',
      'test/storage/races.servers.test.ts',
      'a deadlock is tried again, and both changes are made',
    ],
    [
      '`events.list` is the audit view, newest first.',
      'test/core/events/event-service.test.ts',
      'shows the newest first, narrowed by what is given',
    ],
    ['its position is stored', CONSUME, 'goes on behind what it has handled, under the same name'],
    [
      'one at a time gets the events',
      'src/testing/storage-contract/cases/consumer-cases.ts',
      'of forty holders that claim a new or free consumer concurrently, one gets it',
    ],
    [
      'another takes over after 30 seconds if that process dies.',
      'src/testing/storage-contract/cases/consumer-cases.ts',
      'an expired lease is free, and its former holder moves nothing',
    ],
    ['A new name begins with the oldest event.', CONSUME, 'of another name begins where the outbox does'],
    [
      'When the handler throws, it gets the same events again',
      CONSUME,
      'that fails is handed the same events again, and the failure is logged',
    ],
    [
      '`forge.close()` waits up to five seconds for handlers, then hands over.',
      CONSUME,
      'does not wait for ever for a handler that waits for the close',
    ],
    [
      '`prune` removes events that are older, and that every consumer has handled',
      CONSUME,
      'waits for the slowest consumer until that is forgotten',
    ],
    [
      'A consumer that no process runs holds the rest back',
      CONSUME,
      'waits for the slowest consumer until that is forgotten',
    ],
    [
      'A reader whose cursor is older than the oldest event gets',
      'src/testing/storage-contract/cases/consumer-cases.ts',
      'a reader misses no event while events are removed, or is refused',
    ],
  ],
  '18-run-it': [
    [
      'one process writes at a time',
      'test/storage/sql/sqlite/connections.test.ts',
      'waits for a file that is locked without holding the event loop',
    ],
    [
      'statements that do not depend on each other travel together.',
      'test/storage/sql/servers/round-trips.servers.test.ts',
      'on PostgreSQL each call takes as few as its answers allow',
    ],
    [
      'Migrate first, while the old processes run; then replace them.',
      'test/storage/schema-suite.ts',
      'can be used when only its newest parts are too new',
    ],
    [
      'such as a server setting that can lose a committed change.',
      'test/storage/postgres.servers.test.ts',
      'a setting that endangers committed data is reported',
    ],
    [
      '`storage.migrate()` does the same in your program.',
      'test/storage/schema-suite.ts',
      'the plan run by hand makes what migrate() makes: %o',
    ],
    [
      'A 500 or 503 has a `requestId`, which is also in the log and in `observer.request`.',
      'test/http-adapters/routes/observe.test.ts',
      'is reported with its requestId if it failed',
    ],
    [
      'A call of the storage takes at most five seconds, then it fails',
      'test/durability/server-kill.servers.test.ts',
      'calls on a frozen server are answered in five seconds, storages close, and the next calls work',
    ],
    [
      '`forgelet serve` does this on SIGTERM: it refuses later requests with 503 and `Connection: close`',
      'test/cli/stop-serving.test.ts',
      'a request in progress ends, and later ones are refused on new and on kept connections',
    ],
    [
      'so that a load balancer sends them elsewhere',
      'test/examples/many-processes.servers.test.ts',
      'clients do not notice that every process is replaced under load, and a killed one is passed over',
    ],
    [
      'pins of issues that are gone could not be removed over HTTP.',
      'test/http-adapters/cases/pin-cases.ts',
      'a pinned thing that the presenter does not know is left out',
    ],
  ],
}
