import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import type { Fixture, Standalone } from '../standalone/standalone.ts'
import { openStandalone } from '../standalone/standalone.ts'
import type { CommandIO, ExitCode } from './command.ts'
import { CommandError } from './command.ts'
import type { DatabaseAddress, DatabaseOptions } from './database.ts'
import { databaseAddress, databaseRefusal } from './database.ts'
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
  readonly json?: true | undefined
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
  const fixture = options.fixture === undefined ? undefined : await readFixture(options.fixture, limits)
  const signingKey = await openSigningKeys(options.signingKey ?? listOf(fixture?.signingKey?.file))

  const server = new ForgeServer()
  const port = await listen(server.http, options.host, options.port)
  try {
    const publicUrl = options.publicUrl ?? `http://${urlHost(options.host)}:${port}${API_PATH}`
    const docsUrl = pageUrl(publicUrl)
    server.docsUrl = docsUrl
    const logger = countedLog(options.json ? jsonLog(io) : textLog(io))
    if (options.logRequests) server.http.on('request', requestLog(logger))
    const opening = openHost(database, options, {
      limits,
      fixture: withoutKey(fixture),
      signingKey,
      publicUrl,
      docsUrl,
      logger,
    })
    // A server may keep others waiting for minutes; what is not committed when the process ends is rolled back.
    const host = await Promise.race([opening, toldToStop(io.stop)])
    if (host === undefined) {
      opening.then((late) => late.close()).catch(() => undefined)
      return 0
    }
    server.open(host, { publicUrl: options.publicUrl, logger })
    announce(database, options, io, logger, host, `http://${urlHost(options.host)}:${port}${API_PATH}`)
    const followed = signingKey && (await followSigningKey(host, signingKey))
    if (followed !== undefined) logger.info(followed.line)
    await toldToStop(io.stop)
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

type HostOptions = Omit<Parameters<typeof openStandalone>[0], 'db' | 'prefix' | 'schema'>

async function openHost(
  database: DatabaseAddress,
  { prefix, schema }: DatabaseOptions,
  options: HostOptions,
): Promise<Standalone> {
  try {
    return await openStandalone({ db: database.location, prefix, schema, ...options })
  } catch (error) {
    throw databaseRefusal(database, error)
  }
}

function listOf(file: string | undefined): readonly string[] {
  return file === undefined ? [] : [file]
}

/**
 * Removes the signing key from the fixture. This command opens the key itself, relative to the paths of the command
 * line.
 */
function withoutKey(fixture: Fixture | undefined): Fixture | undefined {
  return fixture && { ...fixture, signingKey: undefined }
}

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

async function toldToStop(stop: AbortSignal): Promise<void> {
  if (stop.aborted) return
  await new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve(), { once: true }))
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
  return portOf(server.address())
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new TypeError('the server does not listen on a port')
  return address.port
}

function refusal(error: Error, host: string, port: number): CommandError {
  const code = 'code' in error ? error.code : undefined
  if (code === 'EADDRINUSE') {
    return new CommandError(
      2,
      `port ${port} on ${host} is in use: stop the other program, or choose another with --port`,
    )
  }
  if (code === 'EACCES') {
    return new CommandError(2, `port ${port} on ${host} is not permitted: choose one above 1023 with --port`)
  }
  return new CommandError(2, `--host ${host}: cannot listen there (${String(code ?? error.message)}); try 127.0.0.1`)
}
