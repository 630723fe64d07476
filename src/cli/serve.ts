import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import type { Logger, SigningKeySource } from '../index.ts'
import { isForgeError } from '../index.ts'
import type { Fixture, Standalone } from '../standalone/standalone.ts'
import { openStandalone } from '../standalone/standalone.ts'
import type { OptionValues } from './arguments.ts'
import type { CommandIO, Environment, ExitCode } from './command.ts'
import { CommandError } from './command.ts'
import type { DatabaseAddress } from './database.ts'
import { databaseRefusal, databaseSetting, parseDatabase, refuseSchemaOption } from './database.ts'
import { createJsonServer, RequestListener } from './json-server.ts'
import { API_PATH, pageUrl, parsePublicUrl } from './public-url.ts'
import { readFixture } from './read-fixture.ts'
import { planSchema } from './storage-kinds.ts'

/**
 * Serves a standalone host until the command is stopped. It first checks everything that does not need the database:
 * the fixture, the key, and the port.
 *
 * @throws CommandError with the documented exit code
 */
export async function serve(options: ServeOptions, io: CommandIO): Promise<ExitCode> {
  await refuseWrongPlace(options)
  const limits = { maxPins: { issue: options.maxPins, pullRequest: options.maxPins } }
  const fixture = options.fixture === undefined ? undefined : await readFixture(options.fixture, limits)
  const signingKey = await openKey(options.signingKey ?? fixture?.signingKey?.file)

  const listener = new RequestListener()
  const server = createJsonServer(listener)
  const port = await listen(server, options.host, options.port)
  try {
    const publicUrl = options.publicUrl ?? `http://${urlHost(options.host)}:${port}${API_PATH}`
    const docsUrl = pageUrl(publicUrl)
    listener.docsUrl = docsUrl
    const logger = stderrLogger(io)
    const opening = openHost(options, {
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
    listener.open(host, options.publicUrl)
    announce(options, io, host, `http://${urlHost(options.host)}:${port}${API_PATH}`)
    await toldToStop(io.stop)
    await stopServer(server)
    await host.close()
    return 0
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

type HostOptions = Omit<Parameters<typeof openStandalone>[0], 'db' | 'prefix' | 'schema'>

async function openHost({ database, prefix, schema }: ServeOptions, options: HostOptions): Promise<Standalone> {
  try {
    return await openStandalone({ db: database.location, prefix, schema, ...options })
  } catch (error) {
    throw databaseRefusal(database, error)
  }
}

/** Checks the names of the tables without a connection: a plan of them needs the same. */
async function refuseWrongPlace({ database, prefix, schema }: ServeOptions): Promise<void> {
  if (prefix !== undefined || schema !== undefined) await planSchema(database, { prefix, schema, ids: {}, from: 0 })
}

async function openKey(file: string | undefined): Promise<SigningKeySource | undefined> {
  if (file === undefined) return undefined

  const { openKeyFile } = await import('../signing-keys/signing-keys.ts')
  try {
    return await openKeyFile(file)
  } catch (error) {
    if (!isForgeError(error, 'SIGNING_KEY_UNREADABLE')) throw error
    throw new CommandError(1, `signing key ${error.message}`)
  }
}

/**
 * Removes the signing key from the fixture. This command opens the key itself, relative to the paths of the command
 * line.
 */
function withoutKey(fixture: Fixture | undefined): Fixture | undefined {
  return fixture && { ...fixture, signingKey: undefined }
}

function announce({ database, fixture, json }: ServeOptions, io: CommandIO, host: Standalone, url: string): void {
  const db = database.shown
  if (host.fixture === 'ignored') {
    io.err(`forgelet: fixture ${fixture} ignored: database ${db} already has users`)
  }
  io.out(json ? JSON.stringify({ url, db, fixture: host.fixture, pid: process.pid }) : url)
  if (!json) io.err(`forgelet: serving ${db}; the API page is ${pageUrl(url)}; press Ctrl-C to stop`)
}

function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

async function toldToStop(stop: AbortSignal): Promise<void> {
  if (stop.aborted) return
  await new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve(), { once: true }))
}

/** The checked options of `forgelet serve`. */
export interface ServeOptions {
  readonly database: DatabaseAddress
  readonly prefix: string | undefined
  readonly schema: string | undefined
  readonly host: string
  readonly port: number
  readonly fixture: string | undefined
  readonly signingKey: string | undefined
  readonly maxPins: number
  /** The URL of the API root for clients; undefined = the address that the server listens on. */
  readonly publicUrl: string | undefined
  readonly json: boolean
}

/**
 * Checks the options of `forgelet serve`.
 * @throws CommandError (wrong usage) for an unexpected word, and for a value out of range
 */
export function serveOptions(words: readonly string[], values: OptionValues, environment: Environment): ServeOptions {
  if (words.length > 0) throw new CommandError(2, `unexpected argument "${words[0]}": options start with "--"`)

  const database = parseDatabase(databaseSetting(values.db, environment.FORGELET_DB))
  refuseSchemaOption(values.schema, database)
  return {
    database,
    prefix: values.prefix,
    schema: values.schema,
    host: values.host ?? '127.0.0.1',
    port: integer('--port', values.port ?? '3000', 65_535),
    fixture: values.fixture,
    signingKey: values['signing-key'],
    maxPins: integer('--max-pins', values['max-pins'] ?? '3', 1000),
    publicUrl: values['public-url'] === undefined ? undefined : parsePublicUrl(values['public-url']),
    json: values.json === true,
  }
}

function integer(name: string, text: string, most: number): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (value <= most) return value
  throw new CommandError(2, `${name} ${text}: give an integer from 0 to ${most}`)
}

/** How long the requests in progress may take to finish, in milliseconds. */
const GRACE = 5000
const LOOK_EVERY = 25

/**
 * Stops a server. It accepts no new connections and closes idle ones. Requests in progress may finish, and are aborted
 * after 5 seconds.
 */
async function stopServer(server: Server): Promise<void> {
  // `close` also closes the connections that are idle now. The interval closes those that become idle later.
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  const idle = setInterval(() => server.closeIdleConnections(), LOOK_EVERY)
  const cut = setTimeout(() => server.closeAllConnections(), GRACE)
  try {
    await closed
  } finally {
    clearInterval(idle)
    clearTimeout(cut)
  }
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

/**
 * Creates a logger that writes warnings and unexpected failures to the terminal. Each is one line, with the causes of
 * the error and the place where it was thrown.
 */
export function stderrLogger(io: Pick<CommandIO, 'err'>): Logger {
  const write = (level: string) => (message: string, fields: object) =>
    io.err(`forgelet: ${level}: ${message} ${inOneLine(fields)}`)
  return { error: write('error'), warn: write('warning') }
}

function inOneLine(fields: object): string {
  const lines = inspect(fields, { breakLength: Number.POSITIVE_INFINITY, compact: true, depth: 5 }).split('\n')
  return lines.map((line) => line.trim()).join(' ') // one expression for this would be quadratic in a run of blanks
}
