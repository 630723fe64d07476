import { once } from 'node:events'
import type { Server } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import type { Command } from '@commander-js/extra-typings'
import { InvalidArgumentError } from '@commander-js/extra-typings'
import { openStandalone } from '../standalone/standalone.ts'
import type { CommandIO } from './command.ts'
import { CommandError, newCommand, toldToStop } from './command.ts'
import { databaseOf, inDatabase, onDatabase } from './database.ts'
import { readFixture, systemCode } from './files.ts'
import { followSigningKey, openSigningKeys } from './keys.ts'
import { API_PATH, ownPages, pageUrl, parsePublicUrl } from './pages.ts'
import { addOrigin, ForgeServer } from './server.ts'
import { jsonWriter, requestLog, serverLog, textWriter } from './server-log.ts'

const HELP = `
  forgelet serve --fixture world.json
  forgelet serve --db :memory: --port 8080 --fixture world.yaml --signing-key key.asc
  forgelet serve --db postgres://forge@db.example.com/forge --signing-key new --signing-key old.pub

The API is at http://HOST:PORT/api/v1, and a page about it, where you can also send requests, at
http://HOST:PORT/api/swagger. Probe /healthz and /readyz. docs/fixture.md describes fixtures. Any
number of servers can use one database: the first loads the fixture.
A signing key is a file, OpenPGP or SSH, public or private, or "git": the key that git signs with
in this folder. Several are served together, the current one first.
SIGTERM, SIGHUP or Ctrl-C: requests in progress finish, later ones get 503 with "Connection: close".
A second signal ends the process: exit code 143, 129 or 130. npx does not pass SIGTERM on: let a
service start node_modules/.bin/forgelet.
The log is on stderr, with --json one JSON object a line.`

/** Adds `forgelet serve`. */
export function addServe(program: Command, io: CommandIO): void {
  defineServe(program).action((options) => serve(options, io))
}

function defineServe(program: Command) {
  const command = newCommand(program, 'serve', 'serve the Gitea API from a database', HELP)
  return inDatabase(command, 'SQLite file or :memory:')
    .option('--fixture <file>', 'users, repositories, issues (JSON or YAML) for an empty database')
    .option('--host <host>', 'address to listen on', listenAddress, '127.0.0.1')
    .option('--port <port>', 'port to listen on; 0 takes a free one', integer(65_535), 3000)
    .option('--signing-key <file|git>', SIGNING_KEY, (name, others: readonly string[] = []) => [...others, name])
    .option('--max-pins <n>', 'pins of each kind in a repository, 0 to 1000', integer(1000), 3)
    .option(
      '--cors <origin>',
      'origin whose pages may call the API, such as https://app.example.com; again for others',
      addOrigin,
    )
    .option('--public-url <url>', 'URL of the API for clients, if not host and port', parsePublicUrl)
    .option('--page-note <text>', 'Markdown at the top of the API page, such as what this server is for')
    .option('--shutdown-timeout <n>', SHUTDOWN_TIMEOUT, integer(3600), 8)
    .option('--log-requests', 'log a line for each request: method, path, status, milliseconds')
}

type ServeOptions = ReturnType<ReturnType<typeof defineServe>['opts']>

const SIGNING_KEY = 'key whose public half is served; again for former keys, which verify only'
const SHUTDOWN_TIMEOUT = 'seconds that requests may take to finish after SIGTERM, 0 to 3600'

/** Node listens on every address of the machine if it is given none. */
function listenAddress(text: string): string {
  if (text.trim() !== '') return text
  throw new CommandError(2, '--host is blank: give an address such as 127.0.0.1')
}

/** Returns the parser of an option that is an integer from 0. */
function integer(most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
    if (value <= most) return value
    throw new InvalidArgumentError(`Give an integer from 0 to ${most}`)
  }
}

/**
 * Serves a standalone host until the command is stopped. It first checks everything that does not need the database:
 * the fixture, the key, and the port.
 *
 * @throws CommandError with the documented exit code
 */
async function serve(options: ServeOptions, io: CommandIO): Promise<void> {
  const database = databaseOf(options, io)
  const limits = { maxPins: { issue: options.maxPins, pullRequest: options.maxPins } }
  const read = options.fixture === undefined ? undefined : await readFixture(options.fixture, limits)
  const signingKey = await openSigningKeys(options.signingKey ?? read?.keys ?? [])

  const server = new ForgeServer()
  server.origins = new Set(options.cors)
  const address = `http://${urlHost(options.host)}:${await listen(server.http, options.host, options.port)}${API_PATH}`
  try {
    const publicUrl = options.publicUrl ?? address
    server.docsUrl = pageUrl(publicUrl)
    const logger = serverLog(options.json ? jsonWriter(io) : textWriter(io))
    if (options.logRequests) server.http.on('request', requestLog(logger))
    const settings = { limits, fixture: read?.fixture, signingKey, publicUrl, docsUrl: server.docsUrl, logger }
    const opening = onDatabase(database, () => openStandalone({ ...database, ...settings }))
    // A server may keep others waiting for minutes; what is not committed when the process ends is rolled back.
    const host = await Promise.race([opening, toldToStop(io)])
    if (host === undefined) return
    server.open(host, ownPages(options.publicUrl, options.pageNote), logger)
    const { fixture, isEmpty } = host
    const { shown: db } = database
    if (fixture === 'ignored') logger.info(`fixture ${options.fixture} ignored: database ${db} already has users`)
    io.out(options.json ? JSON.stringify({ url: address, db, fixture, pid: process.pid }) : address)
    // No other command reaches a database in memory.
    const advice = db === ':memory:' ? '' : 'create one with "forgelet user create NAME --admin", or '
    if (isEmpty) logger.info(`database ${db} has no users: ${advice}start with --fixture FILE`)
    if (!options.json) logger.info(`serving ${db}; the API page is ${pageUrl(address)}; press Ctrl-C to stop`)
    if (signingKey !== undefined) await followSigningKey(host, signingKey, io, logger)
    await toldToStop(io)
    logger.info('stopping when the requests in progress have ended; a second signal stops it now')
    const cut = await server.close(1000 * options.shutdownTimeout)
    if (cut > 0) logger.warn('requests were cut off by the end of --shutdown-timeout', { requests: cut })
    await Promise.race([host.close(), setTimeout(MAX_DATABASE_CLOSE_MS, undefined, { ref: false })])
  } finally {
    server.http.close()
    server.http.closeAllConnections()
  }
}

/**
 * How long the server waits for its database when no request is left, in milliseconds. Nothing is lost: the database
 * rolls back what is not committed.
 */
const MAX_DATABASE_CLOSE_MS = 1000

function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

/**
 * Starts to listen and returns the port, which the system chooses for port 0.
 * @throws CommandError (wrong usage) if the port is in use or the address does not belong to this machine
 */
async function listen(server: Server, host: string, port: number): Promise<number> {
  await once(server.listen({ host, port }), 'listening').catch((error: unknown) => {
    const code = systemCode(error) ?? String(error)
    const fix = FAILURES[code]
    const other = `--host ${host}: cannot listen there (${code}); try 127.0.0.1`
    throw new CommandError(2, fix === undefined ? other : `port ${port} on ${host} ${fix}`)
  })
  const address = server.address()
  return address === null || typeof address === 'string' ? port : address.port // never a pipe, which has a name
}

const FAILURES: { readonly [code: string]: string | undefined } = {
  EADDRINUSE: 'is in use: stop the other program, or choose another with --port',
  EACCES: 'is not permitted: choose one above 1023 with --port',
}
