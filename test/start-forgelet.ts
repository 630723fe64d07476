import type { ChildProcessByStdio } from 'node:child_process'
import { spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { afterAll, onTestFinished, TestRunner } from 'vitest'
import type { CommandIO } from '../app/cli/command.ts'
import { createProgram, runCli } from '../app/cli/program.ts'

// The ways to start the command: in this process, from the sources, which is quicker; or as a process, from dist, for what only
// a process can show: signals, exit codes, standard streams, memory. What a test starts ends with it. What a hook starts, the
// hook must stop.

const command = resolve(import.meta.dirname, '../dist/cli.js')

/** Makes a folder that is removed at the end of the test, or of the file if a hook for all of its tests makes it. */
export async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'forgelet-test-'))
  const atEnd = TestRunner.getCurrentTest() === undefined ? afterAll : onTestFinished
  atEnd(() => rm(folder, { recursive: true }))
  return folder
}

/** How a program ended. */
export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** A server that runs. */
export interface Running {
  /** What it said first: for `forgelet serve`, the URL of the API. */
  readonly url: string
  readonly ended: Promise<Ended>
  /** Stops it, and waits for its end. */
  stop(): Promise<Ended>
}

/** A process that runs. */
export interface RunningProcess {
  readonly pid: number
  readonly stdin: Writable
  readonly ended: Promise<Ended>
  /** Waits until it has written this, to either stream. */
  says(text: string): Promise<void>
  /** Returns the next line of standard output. */
  line(): Promise<string>
  /** Returns the lines of standard output until now. */
  lines(): readonly string[]
  /** Sends the signal, and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<Ended>
}

/** How the command is started. */
export interface StartOptions {
  /** The working directory. In this process, only one command with a folder starts or runs at a time. */
  readonly folder?: string | undefined
  /** A fixture for `forgelet serve`. */
  readonly fixture?: object | undefined
  /** Variables of the environment. */
  readonly environment?: Readonly<Record<string, string>> | undefined
}

/** A command that nothing stops, and that writes nowhere. */
const unheard = (): CommandIO => ({
  out: () => undefined,
  err: () => undefined,
  write: async () => undefined,
  showStatus: undefined,
  stop: new AbortController().signal,
  environment: {},
})

/** The commands and their options, to be read and not to be run. */
export function definedCommands(): ReturnType<typeof createProgram> {
  return createProgram(unheard())
}

/** Runs a command to its end in this process. */
export function runForgelet(
  args: readonly string[],
  { folder, environment, ...io }: Omit<StartOptions, 'fixture'> & Partial<Pick<CommandIO, 'stop' | 'showStatus'>> = {},
): Promise<Ended> {
  return inFolder(folder, () => runHere(args, { ...io, environment: environment ?? {} }))
}

/**
 * Starts `forgelet serve` in this process, on a free port. When it stops, it waits for no connection. It fails if it does not
 * serve.
 */
export async function startForgelet(args: readonly string[], options: StartOptions = {}): Promise<Running> {
  const stop = new AbortController()
  const lines = new EventEmitter()
  const said = once(lines, 'line')
  return withFixture(args, options, (all) =>
    inFolder(options.folder, async () => {
      const ended = runHere(['serve', '--port', '0', '--shutdown-timeout', '0', ...all], {
        environment: options.environment ?? {},
        stop: stop.signal,
        out: (line) => lines.emit('line', line),
      })
      const [url] = await Promise.race([said, ended.then(({ err }) => Promise.reject(new Error(err)))])
      return endsWithTest({
        url,
        ended,
        stop() {
          stop.abort()
          return ended
        },
      })
    }),
  )
}

/** Runs a command to its end as a process. */
export function runForgeletProcess(args: readonly string[], options: StartOptions = {}): Promise<Ended> {
  const program = startProgram([command, ...args], options)
  program.stdin.end()
  return program.ended
}

/** Starts `forgelet serve` as a process, on a free port. It fails if it does not serve. */
export function startForgeletProcess(
  args: readonly string[],
  options: StartOptions = {},
): Promise<Running & RunningProcess> {
  return withFixture(args, options, (all) => serving(startProgram([command, 'serve', '--port', '0', ...all], options)))
}

/** Starts a command as a process. */
export function startCommand(args: readonly string[], options: StartOptions = {}): RunningProcess {
  return startProgram([command, ...args], options)
}

/** Waits until a program has said where it serves, in its first line. */
export async function serving(program: RunningProcess): Promise<Running & RunningProcess> {
  return { ...program, url: await program.line() }
}

/**
 * Starts a program of Node.
 *
 * @param script - its file, after options of Node and before its arguments
 */
export function startProgram(
  script: readonly string[],
  { folder, environment }: Omit<StartOptions, 'fixture'> = {},
): RunningProcess {
  const env = { ...process.env, FORGELET_DB: '', ...environment }
  const child = spawn(process.execPath, script, { cwd: folder, env, stdio: ['pipe', 'pipe', 'pipe'] })
  child.stdin.on('error', () => undefined) // it may end before it has read everything
  const written = collected(child)
  const ended = once(child, 'close').then(([code]): Ended => ({ code, out: written.out, err: written.err }))
  let read = 0

  /** Waits until something else is written. */
  async function more(awaited: string): Promise<void> {
    const isOver = ended.then(({ err }) => Promise.reject(new Error(`it ended without ${awaited}: ${err}`)))
    await Promise.race([once(written, 'more'), isOver])
  }

  return endsWithTest({
    pid: child.pid ?? 0,
    stdin: child.stdin,
    ended,
    async says(text) {
      while (!`${written.out}${written.err}`.includes(text)) await more(`saying "${text}"`)
    },
    async line() {
      while (!written.out.includes('\n', read)) await more('another line')
      const [line = ''] = written.out.slice(read).split('\n', 1)
      read += line.length + 1
      return line
    },
    lines: () => written.out.split('\n').slice(0, -1),
    stop(signal = 'SIGTERM') {
      child.kill(signal)
      return ended
    },
  })
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>

/** What a process writes to its streams; emits `more` for each piece. */
function collected({ stdout, stderr }: Child): EventEmitter & { out: string; err: string } {
  const written = Object.assign(new EventEmitter(), { out: '', err: '' })
  for (const [name, stream] of [['out', stdout] as const, ['err', stderr] as const]) {
    stream.setEncoding('utf8').on('data', (text) => {
      written[name] += text
      written.emit('more')
    })
  }
  return written
}

async function runHere(
  args: readonly string[],
  { out, ...io }: Partial<Pick<CommandIO, 'out' | 'stop' | 'showStatus' | 'environment'>>,
): Promise<Ended> {
  const printed = { out: '', err: '' }
  const code = await runCli(args, {
    ...unheard(),
    ...io,
    out(line) {
      printed.out += `${line}\n`
      out?.(line)
    },
    err(line) {
      printed.err += `${line}\n`
    },
    async write(bytes) {
      printed.out += Buffer.from(bytes).toString()
    },
  })
  return { code, ...printed }
}

async function inFolder<T>(folder: string | undefined, work: () => Promise<T>): Promise<T> {
  if (folder === undefined) return work()
  const before = process.cwd()
  process.chdir(folder)
  try {
    return await work()
  } finally {
    process.chdir(before)
  }
}

/** Starts with a file of the fixture, which a server has read when it serves. */
async function withFixture<T>(
  args: readonly string[],
  { fixture }: StartOptions,
  start: (args: readonly string[]) => Promise<T>,
): Promise<T> {
  if (fixture === undefined) return start(args)
  const folder = await mkdtemp(join(tmpdir(), 'forgelet-fixture-'))
  try {
    const file = join(folder, 'fixture.json')
    await writeFile(file, JSON.stringify(fixture))
    return await start(['--fixture', file, ...args])
  } finally {
    await rm(folder, { recursive: true })
  }
}

function endsWithTest<T extends { stop(signal?: 'SIGKILL'): Promise<Ended> }>(started: T): T {
  if (TestRunner.getCurrentTest() !== undefined) onTestFinished(async () => void (await started.stop('SIGKILL')))
  return started
}
