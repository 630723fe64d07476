import type { Server } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import type { Standalone } from '../standalone/standalone.ts'
import { openStandalone } from '../standalone/standalone.ts'
import type { CommandIO, ExitCode } from './command.ts'
import { CommandError, toldToStop } from './command.ts'
import type { DatabaseOptions } from './database.ts'
import { databaseOf, onDatabase } from './database.ts'
import { readFixture, systemCode } from './files.ts'
import { followSigningKey, openSigningKeys } from './keys.ts'
import { API_PATH, pageUrl } from './pages.ts'
import { ForgeServer } from './server.ts'
import type { ServerLog } from './server-log.ts'
import { countedLog, jsonLog, requestLog, textLog } from './server-log.ts'

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
  const database = databaseOf(options, io.environment)
  const limits = { maxPins: { issue: options.maxPins, pullRequest: options.maxPins } }
  const read = options.fixture === undefined ? undefined : await readFixture(options.fixture, limits)
  const signingKey = await openSigningKeys(options.signingKey ?? read?.keys ?? [])

  const server = new ForgeServer()
  const address = `http://${urlHost(options.host)}:${await listen(server.http, options.host, options.port)}${API_PATH}`
  try {
    const publicUrl = options.publicUrl ?? address
    server.docsUrl = pageUrl(publicUrl)
    const logger = countedLog(options.json ? jsonLog(io) : textLog(io))
    if (options.logRequests) server.http.on('request', requestLog(logger))
    const settings = { limits, fixture: read?.fixture, signingKey, publicUrl, docsUrl: server.docsUrl, logger }
    const opening = onDatabase(database, () => openStandalone({ ...database, ...settings }))
    // A server may keep others waiting for minutes; what is not committed when the process ends is rolled back.
    const host = await Promise.race([opening, toldToStop(io)])
    if (host === undefined) return 0
    server.open(host, options.publicUrl, logger)
    announce(host, { ...options, db: database.shown, address }, io, logger)
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
  { fixture, isEmpty }: Standalone,
  { db, address: url, fixture: file, json }: ServeOptions & { readonly address: string },
  io: CommandIO,
  log: ServerLog,
): void {
  if (fixture === 'ignored') log.info(`fixture ${file} ignored: database ${db} already has users`)
  io.out(json ? JSON.stringify({ url, db, fixture, pid: process.pid }) : url)
  if (isEmpty) log.info(`database ${db} has no users: ${FIRST_USER}`)
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
    server.once('error', (error) => {
      const code = systemCode(error) ?? error.message
      const fix = FAILURES[code]
      const other = `--host ${host}: cannot listen there (${code}); try 127.0.0.1`
      reject(new CommandError(2, fix === undefined ? other : `port ${port} on ${host} ${fix}`))
    })
    server.listen({ host, port }, resolve)
  })
  const address = server.address()
  return address === null || typeof address === 'string' ? port : address.port // never a pipe, which has a name
}

const FAILURES: { readonly [code: string]: string | undefined } = {
  EADDRINUSE: 'is in use: stop the other program, or choose another with --port',
  EACCES: 'is not permitted: choose one above 1023 with --port',
}
