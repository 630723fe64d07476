import type { ChildProcessByStdio } from 'node:child_process'
import { spawn } from 'node:child_process'
import { EventEmitter, on, once } from 'node:events'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { runCli } from '../../src/cli/run-cli.ts'

const cli = resolve(import.meta.dirname, '../../dist/cli.js')

/** How a command ended. */
export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** A running `forgelet serve`. */
export interface Running {
  /** The API's address. */
  readonly url: string
  readonly pid: number
  /** How it ends. */
  readonly ended: Promise<Ended>
  /** Sends the signal, and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<Ended>
}

type Child = ChildProcessByStdio<null, Readable, Readable>

interface Starting {
  readonly child: Child
  readonly ended: Promise<Ended>
}

/** Variables of the environment that the command gets. */
type Variables = { readonly FORGELET_DB?: string }

/** @param program - the command, built; default: that of this tree */
function start(cwd: string, args: readonly string[], variables: Variables = {}, program: string = cli): Starting {
  const env = { ...process.env, FORGELET_DB: '', ...variables }
  const child = spawn(process.execPath, [program, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  return { child, ended: ending(child) }
}

async function ending(child: Child): Promise<Ended> {
  let out = ''
  let err = ''
  child.stdout.on('data', (chunk) => {
    out += chunk
  })
  child.stderr.on('data', (chunk) => {
    err += chunk
  })
  const [code] = await once(child, 'close')
  return { code, out, err }
}

/** A command that runs. */
export interface Started {
  /** Waits until it has written this on stderr. */
  says(text: string): Promise<void>
  /** Sends the signal, and waits for the end. */
  stop(signal: NodeJS.Signals): Promise<Ended>
}

/** Starts a command. */
export function startCommand(cwd: string, args: readonly string[]): Started {
  const { child, ended } = start(cwd, args)
  return {
    async says(text) {
      let err = ''
      for await (const [chunk] of on(child.stderr, 'data', { close: ['end'] })) {
        err += chunk
        if (err.includes(text)) return
      }
      throw new Error(`it ended without saying "${text}": ${err}`)
    },
    stop(signal) {
      child.kill(signal)
      return ended
    },
  }
}

/** Runs a command to its end. */
export function runCommand(cwd: string, args: readonly string[], program?: string): Promise<Ended> {
  return start(cwd, args, {}, program).ended
}

/**
 * Runs a command to its end in this process, from the sources: for what needs no process of its own, such as wrong usage. It is
 * much quicker. Only one at a time, because the process has one working directory.
 */
export async function runInProcess(cwd: string, args: readonly string[]): Promise<Ended> {
  const before = process.cwd()
  process.chdir(cwd)
  try {
    return await runHere(args, { stop: new AbortController().signal })
  } finally {
    process.chdir(before)
  }
}

interface RunHere {
  readonly stop: AbortSignal
  /** Receives each line of stdout. */
  readonly out?: (line: string) => void
}

async function runHere(args: readonly string[], { stop, out }: RunHere): Promise<Ended> {
  const printed = { out: '', err: '' }
  const code = await runCli(args, {
    out: (line) => {
      printed.out += `${line}\n`
      out?.(line)
    },
    err: (line) => {
      printed.err += `${line}\n`
    },
    async write(bytes) {
      printed.out += Buffer.from(bytes).toString()
    },
    showStatus: undefined,
    stop,
    environment: {},
  })
  return { code, ...printed }
}

/** A `forgelet serve` in this process. */
export type Served = Pick<Running, 'url' | 'ended'> & { stop(): Promise<Ended> }

/**
 * Starts `forgelet serve` on a free port in this process, from the sources: for what needs no process of its own, such as what the
 * options change. When it stops it does not wait until idle connections end, seconds later. It fails when it does not serve. One starts at a time, because the process has one working directory.
 */
export async function serveInProcess(cwd: string, args: readonly string[]): Promise<Served> {
  const before = process.cwd()
  const stop = new AbortController()
  process.chdir(cwd)
  try {
    const lines = new EventEmitter()
    const firstLine = once(lines, 'line')
    const ended = runHere(['serve', '--port', '0', '--shutdown-timeout', '0', ...args], {
      stop: stop.signal,
      out: (line) => lines.emit('line', line),
    })
    const [url] = await Promise.race([firstLine, ended.then(({ err }) => Promise.reject(new Error(err)))])
    return {
      url,
      ended,
      stop() {
        stop.abort()
        return ended
      },
    }
  } finally {
    process.chdir(before)
  }
}

/** Starts `forgelet serve` on a free port; fails when it does not serve. */
export async function startServe(
  cwd: string,
  args: readonly string[],
  variables?: Variables,
  program?: string,
): Promise<Running> {
  const { child, ended } = start(cwd, ['serve', '--port', '0', ...args], variables, program)
  const url = await Promise.race([firstLine(child), ended.then(({ err }) => Promise.reject(new Error(err)))])
  return {
    url,
    pid: child.pid ?? 0,
    ended,
    stop(signal = 'SIGTERM') {
      child.kill(signal)
      return ended
    },
  }
}

async function firstLine(child: Child): Promise<string> {
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  return line
}
