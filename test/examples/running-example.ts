import { resolve } from 'node:path'
import { serving, startProgram } from '../start-forgelet.ts'

const examples = resolve(import.meta.dirname, '../../examples')
const endWithStdin = resolve(import.meta.dirname, 'end-with-stdin.mjs')
const serveModule = resolve(import.meta.dirname, 'serve-module.mjs')

/** An example that serves. */
export interface RunningExample {
  /** Where it serves. */
  readonly url: string
  /** What it has said since it served, line by line. */
  readonly said: readonly string[]
  /** Asks it, as olga, whom the examples know, or without a credential. */
  ask(method: string, path: string, more?: { readonly body?: object; readonly as?: 'anonymous' }): Promise<Answer>
  /** Sends it a signal. */
  signal(name: NodeJS.Signals): void
  stop(): Promise<void>
}

/** What an example answered: JSON, or undefined for no body. */
export interface Answer {
  readonly status: number
  readonly body: unknown
}

/** Starts an example on a free port; fails when it does not serve. */
export function startExample(
  name: string,
  env: Readonly<Record<string, string>>,
  args: readonly string[] = [],
): Promise<RunningExample> {
  return start([resolve(examples, name), ...args], env)
}

/** As `startExample`, of an example that is a module for a runtime or framework: its functions of Fetch requests are served. */
export function startModule(name: string): Promise<RunningExample> {
  return start([serveModule, resolve(examples, name)], {})
}

/** Starts a script. It ends with its standard input, and so with the processes that it has started. */
async function start(script: readonly string[], env: Readonly<Record<string, string>>): Promise<RunningExample> {
  const environment = { ...env, PORT: '0' }
  const { url, pid, stdin, ended, lines } = await serving(
    startProgram(['--import', endWithStdin, ...script], { environment }),
  )
  return {
    url,
    get said() {
      return lines().slice(1)
    },
    ask: (method, path, { body, as } = {}) =>
      ask(new URL(path, url), method, body, as === 'anonymous' ? {} : { authorization: 'Bearer olga-token' }),
    signal: (signal) => void process.kill(pid, signal),
    async stop() {
      stdin.end()
      await ended
    },
  }
}

async function ask(
  url: URL,
  method: string,
  body: object | undefined,
  credential: Readonly<Record<string, string>>,
): Promise<Answer> {
  const headers = body === undefined ? credential : { ...credential, 'content-type': 'application/json' }
  const response = await fetch(url, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
}
