import { resolve } from 'node:path'
import type { DatabaseKind } from '../databases.ts'
import { newDatabase } from '../databases.ts'
import { serving, startProgram } from '../start-forgelet.ts'

// The examples import the package by its name, and so what is built in dist/.

const examples = resolve(import.meta.dirname, '../../examples')
const serveModule = resolve(import.meta.dirname, 'serve-module.mjs')

/** An example that serves. It ends with the test; one that a hook starts, the hook must stop. */
export interface RunningExample {
  /** Where it serves. */
  readonly url: string
  /** What it has said since it served, line by line. */
  readonly said: readonly string[]
  /** Asks it, as olga, whom the examples know, or without a credential. */
  ask(method: string, path: string, more?: { readonly body?: object; readonly as?: 'anonymous' }): Promise<Answer>
  stop(): Promise<unknown>
}

/** What an example answered: JSON, or undefined for no body. */
export interface Answer {
  readonly status: number
  readonly body: unknown
}

/** Starts an example on a free port. It fails if the example does not serve. */
export function startExample(
  name: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<RunningExample> {
  return start([resolve(examples, name)], environment)
}

/** As `startExample`, of an example that is a module for a runtime or framework: its functions of Fetch requests are served. */
export function startModule(name: string): Promise<RunningExample> {
  return start([serveModule, resolve(examples, name)], {})
}

/** An example on a database. */
interface ExampleOnDatabase extends Pick<RunningExample, 'ask'> {
  /** What it has said since it served, line by line. */
  lines(): readonly string[]
  /** Makes every statement fail for which a trigger fires. */
  refuse(trigger: string): Promise<void>
}

/** Starts an example on a database of its own, in which tables can be made to refuse what it does. */
export async function startOnDatabase<Tx>(name: string, kind: DatabaseKind<Tx>): Promise<ExampleOnDatabase> {
  const database = await newDatabase(kind)
  const isFile = kind.name === 'SQLite'
  const example = await startExample(name, { [isFile ? 'DATABASE_FILE' : 'DATABASE_URL']: database.url })
  async function refuse(trigger: string): Promise<void> {
    const body = isFile ? "begin select raise(abort, 'refused'); end" : 'for each row execute function refuse()'
    if (!isFile) await database.run(FUNCTION)
    await database.run(`create ${trigger} ${body}`)
  }
  return { ask: example.ask, lines: () => example.said, refuse }
}

const FUNCTION =
  "create or replace function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$"

async function start(
  script: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<RunningExample> {
  const { url, lines, stop } = await serving(startProgram(script, { environment: { ...environment, PORT: '0' } }))
  return {
    url,
    get said() {
      return lines().slice(1)
    },
    async ask(method, path, { body, as } = {}) {
      const headers: Record<string, string> = as === 'anonymous' ? {} : { authorization: 'Bearer olga-token' }
      if (body !== undefined) headers['content-type'] = 'application/json'
      const reply = await fetch(new URL(path, url), {
        method,
        headers,
        body: body === undefined ? null : JSON.stringify(body),
      })
      const text = await reply.text()
      return { status: reply.status, body: text === '' ? undefined : JSON.parse(text) }
    },
    stop: () => stop('SIGKILL'),
  }
}
