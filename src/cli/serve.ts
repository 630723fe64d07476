import type { Server } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import type { Standalone } from '../standalone/standalone.ts'
import { openStandalone } from '../standalone/standalone.ts'
import type { CommandIO, ExitCode } from './command.ts'
import { CommandError, toldToStop } from './command.ts'
import type { DatabaseAddress, DatabaseOptions } from './database.ts'
import { databaseAddress, databaseRefusal } from './database.ts'
import { systemCode } from './file-failure.ts'
import { followSigningKey, openSigningKeys } from './keys.ts'
import { API_PATH, pageUrl } from './public-url.ts'
import { readFixture } from './read-fixture.ts'
import { ForgeServer } from './server.ts'
import type { ServerLog } from './server-log.ts'
import { countedLog, jsonLog, requestLog, textLog } from './server-log.ts'
import { refuseWrongPlace } from './storage-kinds.ts'

/** The options of `forgelet serve`. */
export interface ServeOptions extends DatabaseOptions {
  readonly host: string
  readonly port: number
  readonly fixture?: string | undefined
  /** The current key first. */
  readonly signingKey?: readonly string[] | undefined
  readonly maxPins: number
  /** The URL of the API root for clients; undefined = the address that the server listens on. */
  readonly publicUrl?: string | undefined
  /** How many seconds the requests in progress may take once the command is stopped. */
  readonly shutdownTimeout: number
  readonly logRequests?: true | undefined
}

/**
 * Serves a standalone host until the command is stopped. It first checks everything that does not need the database:
 * the fixture, the key, and the port.
 *
 * @throws CommandError with the documented exit code
 */
export async function serve(options: ServeOptions, io: CommandIO): Promise<ExitCode> {
  const database = databaseAddress(options, io.environment)
  await refuseWrongPlace(database, options)
  const limits = { maxPins: { issue: options.maxPins, pullRequest: options.maxPins } }
  const read = options.fixture === undefined ? undefined : await readFixture(options.fixture, limits)
  const signingKey = await openSigningKeys(options.signingKey ?? read?.keys ?? [])

  const server = new ForgeServer()
  const port = await listen(server.http, options.host, options.port)
  try {
    const publicUrl = options.publicUrl ?? `http://${urlHost(options.host)}:${port}${API_PATH}`
    const docsUrl = pageUrl(publicUrl)
    server.docsUrl = docsUrl
    const logger = countedLog(options.json ? jsonLog(io) : textLog(io))
    if (options.logRequests) server.http.on('request', requestLog(logger))
    const { prefix, schema } = options
    const settings = { limits, fixture: read?.fixture, signingKey, publicUrl, docsUrl, logger }
    const opening = openStandalone({ db: database.location, prefix, schema, ...settings }).catch((error: unknown) => {
      throw databaseRefusal(database, error)
    })
    // A server may keep others waiting for minutes; what is not committed when the process ends is rolled back.
    const host = await Promise.race([opening, toldToStop(io)])
    if (host === undefined) {
      opening.then((late) => late.close()).catch(() => undefined)
      return 0
    }
    server.open(host, { publicUrl: options.publicUrl, logger })
    announce(database, options, io, logger, host, `http://${urlHost(options.host)}:${port}${API_PATH}`)
    const followed = signingKey && (await followSigningKey(host, signingKey))
    if (followed !== undefined) logger.info(followed.line)
    await toldToStop(io)
    followed?.end()
    logger.info('stopping when the requests in progress have ended; a second signal stops it now')
    const cut = await server.close(1000 * options.shutdownTimeout)
    if (cut > 0) logger.warn('requests were cut off by the end of --shutdown-timeout', { requests: cut })
    await Promise.race([host.close(), setTimeout(MAX_DATABASE_CLOSE_MS, undefined, { ref: false })])
    return 0
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

function announce(
  { shown: db }: DatabaseAddress,
  { fixture, json }: ServeOptions,
  io: CommandIO,
  log: ServerLog,
  host: Standalone,
  url: string,
): void {
  if (host.fixture === 'ignored') log.info(`fixture ${fixture} ignored: database ${db} already has users`)
  io.out(json ? JSON.stringify({ url, db, fixture: host.fixture, pid: process.pid }) : url)
  if (host.isEmpty) log.info(`database ${db} has no users: ${FIRST_USER}`)
  if (!json) log.info(`serving ${db}; the API page is ${pageUrl(url)}; press Ctrl-C to stop`)
}

const FIRST_USER = 'create one with "forgelet user create NAME --admin", or start with --fixture FILE'

function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

/**
 * Starts to listen and returns the port, which the system chooses for port 0.
 * @throws CommandError (wrong usage) if the port is in use or the address does not belong to this machine
 */
async function listen(server: Server, host: string, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(refusal(error, host, port)))
    server.listen({ host, port }, resolve)
  })
  const address = server.address()
  return address === null || typeof address === 'string' ? port : address.port // never a pipe, which has a name
}

function refusal(error: Error, host: string, port: number): CommandError {
  const code = systemCode(error)
  const fixes: { readonly [code: string]: string | undefined } = {
    EADDRINUSE: `port ${port} on ${host} is in use: stop the other program, or choose another with --port`,
    EACCES: `port ${port} on ${host} is not permitted: choose one above 1023 with --port`,
  }
  const other = `--host ${host}: cannot listen there (${code ?? error.message}); try 127.0.0.1`
  return new CommandError(2, fixes[code ?? ''] ?? other)
}
