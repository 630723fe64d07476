import type { SigningKeySource } from '../index.ts'
import { isForgeError } from '../index.ts'
import type { Fixture, Standalone } from '../standalone/standalone.ts'
import { openStandalone } from '../standalone/standalone.ts'
import type { ExitCode } from './command-error.ts'
import { CommandError } from './command-error.ts'
import { createJsonServer } from './create-json-server.ts'
import { databaseRefusal } from './database-refusal.ts'
import { listen } from './listen.ts'
import { API_PATH, pageUrl } from './public-url.ts'
import { readFixture } from './read-fixture.ts'
import { RequestListener } from './request-listener.ts'
import type { ServeOptions } from './serve-options.ts'
import { stderrLogger } from './stderr-logger.ts'
import { stopServer } from './stop-server.ts'
import type { Terminal } from './terminal.ts'

/**
 * Serves a standalone host until told to stop. What can be refused without touching the database is checked first: the
 * fixture, the key, the port.
 *
 * @throws CommandError with the documented exit code
 */
export async function serve(options: ServeOptions, terminal: Terminal): Promise<ExitCode> {
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
    const logger = stderrLogger(terminal)
    const host = await openHost(options, {
      limits,
      fixture: withoutKey(fixture),
      signingKey,
      publicUrl,
      docsUrl,
      logger,
    })
    listener.open(host, options.publicUrl)
    announce(options, terminal, host, `http://${urlHost(options.host)}:${port}${API_PATH}`)
    await toldToStop(terminal.stop)
    await stopServer(server)
    await host.close()
    return 0
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

type HostOptions = Omit<Parameters<typeof openStandalone>[0], 'db'>

async function openHost({ db }: ServeOptions, options: HostOptions): Promise<Standalone> {
  try {
    return await openStandalone({ db, ...options })
  } catch (error) {
    throw databaseRefusal(db, error)
  }
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

/** The key is opened here, with the paths of the command line. */
function withoutKey(fixture: Fixture | undefined): Fixture | undefined {
  return fixture && { ...fixture, signingKey: undefined }
}

function announce({ db, fixture, json }: ServeOptions, terminal: Terminal, host: Standalone, url: string): void {
  if (host.fixture === 'ignored') {
    terminal.err(`forgelet: fixture ${fixture} ignored: database ${db} already has users`)
  }
  terminal.out(json ? JSON.stringify({ url, db, fixture: host.fixture, pid: process.pid }) : url)
  if (!json) terminal.err(`forgelet: serving ${db}; the API page is ${pageUrl(url)}; press Ctrl-C to stop`)
}

function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

async function toldToStop(stop: AbortSignal): Promise<void> {
  if (stop.aborted) return
  await new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve(), { once: true }))
}
