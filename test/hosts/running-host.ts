import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import pg from 'pg'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import type { TestDatabase } from '../databases.ts'
import { newDatabase, POSTGRES } from '../databases.ts'
import { listening } from '../http.ts'

/** An application of a host, and what ends it. */
interface Opened<Forge> {
  readonly forge: Forge
  readonly server: Server
  end(): Promise<unknown>
}

/** What a test may reach beside the application. */
interface Running<Forge> {
  readonly database: TestDatabase
  readonly pool: pg.Pool
  readonly forge: Forge
}

/** An answer of the application; JSON is parsed. */
interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: ReturnType<typeof JSON.parse>
}

/** An application that runs on a database of its own, which every test finds as new. */
export class RunningHost<Forge> {
  readonly #scheme: 'token' | 'Bearer'
  readonly #ends: (() => Promise<unknown>)[] = []
  #current: Running<Forge> | undefined
  origin = ''

  constructor(
    statements: readonly string[],
    open: (pool: pg.Pool) => Promise<Opened<Forge>>,
    scheme: 'token' | 'Bearer',
  ) {
    this.#scheme = scheme
    beforeAll(() => () => this.#end())
    beforeEach(async () => {
      await this.#end()
      const database = await newDatabase(POSTGRES, { atEnd: (end) => void this.#ends.push(end) })
      for (const statement of statements) await database.run(statement)
      const pool = new pg.Pool({ connectionString: database.url })
      pool.on('error', () => undefined) // the database goes before its last connection
      pool.on('connect', (client) => void client.on('error', () => undefined))
      const { forge, server, end } = await open(pool)
      this.#current = { database, pool, forge }
      const { origin, stop } = await listening(server)
      this.#ends.push(end, stop)
      this.origin = origin
    })
  }

  get running(): Running<Forge> {
    if (this.#current === undefined) throw new Error('the host is not running')
    return this.#current
  }

  /** The rows of a statement of the application itself. */
  rows(text: string): ReturnType<TestDatabase['run']> {
    return this.running.database.run(text)
  }

  async ask(
    method: string,
    path: string,
    who?: string,
    headers: Readonly<Record<string, string>> = {},
    body?: object,
  ): Promise<Answer> {
    const authorization = who === undefined ? undefined : { authorization: `${this.#scheme} ${who}-token` }
    const content = body && { 'content-type': 'application/json' }
    const reply = await fetch(new URL(path, this.origin), {
      method,
      headers: { ...authorization, ...content, ...headers },
      body: body === undefined ? null : JSON.stringify(body),
    })
    const text = await reply.text()
    return { status: reply.status, headers: reply.headers, body: /^[[{]/.test(text) ? JSON.parse(text) : text }
  }

  async status(...args: Parameters<RunningHost<Forge>['ask']>): Promise<number> {
    return (await this.ask(...args)).status
  }

  /** What is pinned on a board, each as its position and its number. */
  async pinned(path: string, who?: string): Promise<readonly string[]> {
    const { body } = await this.ask('GET', path, who)
    return body.map(({ number, pin_order }: Readonly<Record<string, unknown>>) => `${pin_order}:${number}`)
  }

  async #end(): Promise<void> {
    for (const end of this.#ends.splice(0).reverse()) await end()
  }
}

/** That an application needs little code for forgelet. */
export function testGlue(path: string): void {
  test('the glue has at most 120 lines', () => {
    const lines = readFileSync(path, 'utf8').split('\n')
    expect(lines.filter((line) => !/^\s*(\/\/|\/?\*|$)/.test(line)).length).toBeLessThanOrEqual(120)
  })
}
