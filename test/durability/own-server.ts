import type { ChildProcess } from 'node:child_process'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe } from 'vitest'
import { mariadbConnection, pgConnection, runOnce, serversAreRequired } from '../databases.ts'
import { freePort } from '../http.ts'
import { notRun } from '../programs.ts'

// Database servers that a test starts, kills and freezes. Linux only.

/** A database server of its own. It dies with the process that started it. */
export interface OwnServer {
  /** The URL of an empty database on it. */
  readonly url: string
  /** Kills every process of it, and waits until they are gone. */
  kill(): Promise<void>
  /** Stops every process of it where it is: connections stay open, and nothing is answered. */
  freeze(): void
  /** Lets a frozen server go on. */
  thaw(): void
  /** Starts it again over the same data, with settings such as `fsync=off`; done when it answers. */
  start(settings?: readonly string[]): Promise<void>
  /** Kills it and removes its folder. */
  drop(): Promise<void>
}

/** How a kind of server is made and started. */
export interface OwnServerKind {
  readonly name: string
  /** Who it runs as where the test is root, whom database servers refuse. */
  readonly user: string
  /** The paths of its programs; undefined for one that is not installed. */
  readonly programs: readonly (string | undefined)[]
  /** Fills the folder: a program and its arguments. */
  readonly install: (folder: string) => readonly string[]
  /** Runs it in the foreground. */
  readonly serve: (folder: string, port: number, settings: readonly string[]) => readonly string[]
  readonly url: (port: number) => string
  /** Asks it something; rejects while it does not answer. */
  readonly ask: (port: number) => Promise<unknown>
}

/** The newest PostgreSQL that is installed, with its own settings, which lose nothing. */
export const OWN_POSTGRES: OwnServerKind = ownPostgres()

/** MariaDB with its own settings, which lose nothing. */
export const OWN_MARIADB: OwnServerKind = ownMariadb()

/**
 * Defines tests on a server of their own. Where it cannot be started, one line on stderr says so, and one test carries it; that
 * test fails under `FORGELET_REQUIRE_DB=1`.
 */
export function onOwnServer(kind: OwnServerKind, suite: (start: () => Promise<OwnServer>) => void): void {
  if (!kind.programs.includes(undefined) && existsSync('/proc/self/stat') && existsSync('/usr/bin/setpriv')) {
    describe(`a ${kind.name} server of its own`, () => suite(() => startOwnServer(kind)))
    return
  }

  const why = `what kills a ${kind.name} server needs Linux and its programs, which this machine does not have`
  notRun(why, serversAreRequired())
}

async function startOwnServer(kind: OwnServerKind): Promise<OwnServer> {
  const folder = mkdtempSync(join(tmpdir(), 'forgelet-server-'))
  chmodSync(folder, 0o700)
  if (isRoot()) execFileSync('chown', [kind.user, folder])
  execFileSync('setpriv', asUser(kind.user, kind.install(folder)), { stdio: 'pipe', env: environmentOf(folder) })
  const port = await freePort()
  let child = await serving(kind, folder, port, [])
  const kill = async (): Promise<void> => {
    await killAll(child.pid ?? 0)
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }

  return {
    url: kind.url(port),
    kill,
    freeze: () => signalAll(child.pid ?? 0, 'SIGSTOP'),
    thaw: () => signalAll(child.pid ?? 0, 'SIGCONT'),
    async start(settings = []) {
      child = await serving(kind, folder, port, settings)
    },
    async drop() {
      await kill()
      rmSync(folder, { recursive: true })
    },
  }
}

async function serving(
  { user, serve, ask }: OwnServerKind,
  folder: string,
  port: number,
  settings: readonly string[],
): Promise<ChildProcess> {
  const child = spawn('setpriv', asUser(user, serve(folder, port, settings)), {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: environmentOf(folder),
  })
  let complaint = ''
  child.stderr.on('data', (chunk) => {
    complaint = (complaint + chunk).slice(-4000)
  })
  const deadline = performance.now() + 60_000
  while (child.exitCode === null && performance.now() < deadline) {
    try {
      await ask(port)
      return child
    } catch {
      await pause(20)
    }
  }
  child.kill('SIGKILL')
  throw new Error(`the server did not start: ${complaint}`)
}

/** The user of the server may not be allowed to write to the temporary folder of the tests. */
function environmentOf(folder: string): NodeJS.ProcessEnv {
  return { ...process.env, TMPDIR: folder }
}

/** Runs a program as the user, and kills it when its parent dies. */
function asUser(user: string, command: readonly string[]): readonly string[] {
  const as = isRoot() ? ['--reuid', user, '--regid', user, '--clear-groups'] : []
  return [...as, '--pdeathsig', 'KILL', '--', ...command]
}

function isRoot(): boolean {
  return process.getuid?.() === 0
}

/** Kills a process and its children at once, and waits until none of them runs. */
async function killAll(pid: number): Promise<void> {
  if (!isAlive(pid)) return
  process.kill(pid, 'SIGSTOP') // it makes no more children
  const pids = [...childrenOf(pid), pid]
  for (const one of pids) {
    try {
      process.kill(one, 'SIGKILL')
    } catch {
      // it has ended by itself
    }
  }
  while (pids.some(isAlive)) await pause(5)
}

function signalAll(pid: number, signal: 'SIGSTOP' | 'SIGCONT'): void {
  for (const one of [pid, ...childrenOf(pid)]) process.kill(one, signal)
}

/** Whether a process runs; one that has ended and is only remembered does not. */
function isAlive(pid: number): boolean {
  const stat = statOf(pid)
  return stat !== undefined && stat.state !== 'Z' && stat.state !== 'X'
}

function childrenOf(pid: number): readonly number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.map(Number).filter((one) => statOf(one)?.parent === pid)
}

/** What Linux reports about a process; undefined when it is gone. */
function statOf(pid: number): { readonly state: string | undefined; readonly parent: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ') // the name before may hold anything
    return { state, parent: Number(parent) }
  } catch {
    return undefined
  }
}

function ownPostgres(): OwnServerKind {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).sort((one, other) => Number(other) - Number(one)) : []
  const bins = versions.map((version) => join(debian, version, 'bin'))
  const bin = bins.find((one) => existsSync(join(one, 'initdb')))
  const program = (name: string): string => join(bin ?? '', name)
  const url = (port: number): string => `postgres://postgres@127.0.0.1:${port}/postgres`
  return {
    name: 'PostgreSQL',
    user: 'postgres',
    programs: [bin],
    install: (folder) =>
      [program('initdb'), '-D', join(folder, 'data')].concat(
        '-A trust -U postgres --no-sync -E UTF8 --locale=C.UTF-8'.split(' '),
      ),
    serve(folder, port, settings) {
      const own = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', ...settings]
      const options = own.flatMap((setting) => ['-c', setting])
      return [program('postgres'), '-D', join(folder, 'data'), '-p', String(port), ...options]
    },
    url,
    ask: (port) => runOnce(pgConnection, url(port), 'select 1'),
  }
}

function ownMariadb(): OwnServerKind {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
  const found = (name: string) => folders.map((folder) => join(folder, name)).find((path) => existsSync(path))
  const programs = [found('mariadb-install-db'), found('mariadbd')] as const
  const [install = '', serve = ''] = programs
  const url = (port: number): string => `mysql://root@127.0.0.1:${port}/`
  return {
    name: 'MariaDB',
    user: 'mysql',
    programs,
    install: (folder) => [
      install,
      '--no-defaults',
      `--datadir=${join(folder, 'data')}`,
      '--auth-root-authentication-method=normal',
      '--skip-test-db',
    ],
    serve: (folder, port, settings) => [
      serve,
      '--no-defaults',
      `--datadir=${join(folder, 'data')}`,
      `--socket=${join(folder, 'socket')}`,
      `--pid-file=${join(folder, 'pid')}`,
      `--port=${port}`,
      '--bind-address=127.0.0.1',
      '--skip-name-resolve',
      ...settings.map((setting) => `--${setting}`),
    ],
    url: (port) => `${url(port)}forge`,
    ask: (port) => runOnce(mariadbConnection, url(port), 'create database if not exists forge'),
  }
}
