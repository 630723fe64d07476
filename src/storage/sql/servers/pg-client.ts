import { command } from '../dialect.ts'
import { busy } from '../errors.ts'
import type { Statement } from '../query.ts'
import { destroySocket, hasMethods } from './pools.ts'
import { postgresRules, saysNameIsWrong } from './postgres-rules.ts'
import type { Rows, Runner, ServerConnection } from './server.ts'

/** How pg reads the columns of one query. */
export interface PgTypes {
  /** Returns the reader for values of a type, by its number in the catalogue. */
  getTypeParser(type: number, format?: 'text' | 'binary'): (value: string) => unknown
}

/** One query, as pg accepts it. */
export interface PgQuery {
  readonly text: string
  readonly values: unknown[]
  /** The name of the prepared statement on the connection. */
  readonly name?: string
  readonly types?: PgTypes
}

/** The answer to a query. */
export interface PgAnswer {
  readonly rows: readonly unknown[]
}

/** A connection of pg, with the call that is made on it: a `Client`, or a client of a `Pool`. */
export interface PgClient {
  /** Runs one query, or several statements without values. */
  query(query: PgQuery): Promise<PgAnswer>
}

/** A client that returns to its pool, or is closed if something is wrong with it. */
export interface PgPoolClient extends PgClient {
  /** Releases it to the pool, or closes it. */
  release(destroy?: boolean): void
}

/** A pool of pg, with the calls that are made on it. */
export interface PgPool extends PgClient {
  /** Takes a client out of the pool, once one is free. */
  connect(): Promise<PgPoolClient>
}

/** A pool that the storage opened, and ends. */
export interface OwnPool extends PgPool {
  end(): Promise<void>
  /** Calls the listener for each client that is connected. */
  on(event: 'connect', listener: (client: unknown) => void): unknown
}

/** Returns whether a value has the call of a client. */
export function isPgClient(value: unknown): value is PgClient {
  return typeof value === 'object' && value !== null && 'query' in value && typeof value.query === 'function'
}

/** Returns whether a value has the calls of a pool. A client has them too, and also its own parsers. */
export function isPgPool(value: unknown): value is PgPool {
  return isPgClient(value) && 'connect' in value && typeof value.connect === 'function' && !('getTypeParser' in value)
}

/** Runs statements on a client of pg. */
export class Client implements Runner {
  readonly identity: PgClient
  readonly #names: StatementNames | undefined

  /** @param names - of the prepared statements. None on the host's client, because the host may do anything with it */
  constructor(client: PgClient, names?: StatementNames) {
    this.identity = client
    this.#names = names
  }

  run(statements: readonly Statement<unknown>[], refuse?: () => void): Promise<Rows> {
    const messages = messagesOf(statements, this.#names)
    const [first] = messages
    if (messages.length === 1 && first !== undefined) return this.#ask(first)
    return isPipelining(this.identity) ? this.#sendTogether(messages) : this.#sendInTurn(messages, refuse)
  }

  /** After one that has failed, those behind it in the transaction are refused with 25P02. */
  async #sendTogether(messages: readonly Message[]): Promise<Rows> {
    const send = (): readonly Promise<Rows>[] => messages.map((message) => this.#ask(message))
    const answers = await Promise.allSettled(inOneWrite(socketOf(this.identity), send))
    return answers.flatMap((answer) => {
      if (answer.status === 'rejected') throw answer.reason
      return answer.value
    })
  }

  async #sendInTurn(messages: readonly Message[], refuse?: () => void): Promise<Rows> {
    const rows: (readonly unknown[])[] = []
    for (const message of messages) {
      refuse?.()
      rows.push(...(await this.#ask(message)))
    }
    return rows
  }

  /** If the server refuses the name of a prepared statement, names are of no use. */
  #ask(message: Message): Promise<Rows> {
    return this.identity.query(message.query).then(
      (answer) => rowsOfEach(message, answer),
      (error) => {
        if (message.query.name === undefined || !saysNameIsWrong(error)) throw error
        this.#names?.giveUp()
        throw busy('call', error)
      },
    )
  }
}

/** A client out of the pool. */
export class PooledClient<C> extends Client implements ServerConnection<C> {
  readonly #client: PgPoolClient
  #isReleased = false

  constructor(client: PgPoolClient, names?: StatementNames) {
    super(client, names)
    this.#client = client
  }

  get transaction(): C {
    const client: unknown = this.#client
    // biome-ignore lint/nursery/noUnsafeTypeAssertion: made by the host's pool, as C says; or by pg if a URL was given
    return client as C
  }

  /** Older versions of pg do not know whether the host left a transaction open. */
  begin(): readonly Statement<unknown>[] {
    const { begin } = postgresRules
    return statusOf(this.#client) === undefined ? [ROLL_BACK, ...begin] : begin
  }

  /** PostgreSQL answers the COMMIT of a failed transaction with ROLLBACK and without an error. */
  async commit(): Promise<boolean> {
    const answer: unknown = await this.#client.query(textOf([COMMIT]))
    return !(typeof answer === 'object' && answer !== null && Reflect.get(answer, 'command') === 'ROLLBACK')
  }

  async rollBack(): Promise<unknown> {
    return statusOf(this.#client) === 'outside' ? undefined : this.run([ROLL_BACK])
  }

  /** Cursors and streams of pg do not work on a client that is pipelining. */
  async lend<T>(work: () => Promise<T>): Promise<T> {
    const client: PgClient = this.#client
    if (!isPipelining(client)) return work()
    client.pipeline = false
    try {
      return await work()
    } finally {
      pipelineAgain(client)
    }
  }

  /** A client that is pipelining would wait for its answers before it ends. */
  release(state: 'sound' | 'spoilt'): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#client.release(state === 'spoilt')
    if (state === 'spoilt') destroySocket(socketOf(this.#client))
  }
}

/** In binary mode pg returns values as texts with bytes missing. */
export function isBinary(client: PgClient): boolean {
  return 'binary' in client && client.binary === true
}

const COMMIT = command('commit')
const ROLL_BACK = command('rollback')

/** What is sent as one query, and the statements in it. */
interface Message {
  readonly query: PgQuery
  readonly statements: readonly Statement<unknown>[]
}

/** The statements without parameters at the beginning are one message. */
function messagesOf(statements: readonly Statement<unknown>[], names: StatementNames | undefined): readonly Message[] {
  const first = statements.findIndex(({ parameters }) => parameters.length > 0)
  const texts = first === -1 ? statements : statements.slice(0, first)
  const messages: Message[] = texts.length === 0 ? [] : [{ query: textOf(texts), statements: texts }]
  for (const statement of first === -1 ? [] : statements.slice(first)) {
    messages.push({ query: queryOf(statement, names), statements: [statement] })
  }
  return messages
}

function queryOf({ sql: text, parameters }: Statement<unknown>, names: StatementNames | undefined): PgQuery {
  const name = parameters.length > 0 ? names?.of(text) : undefined
  const values = [...parameters]
  return name === undefined ? { text, values, types: TYPES } : { name, text, values, types: TYPES }
}

function textOf(statements: readonly Statement<unknown>[]): PgQuery {
  return { text: statements.map(({ sql }) => sql).join('; '), values: [], types: TYPES }
}

/** pg answers several statements with a list, others with the answer to the last. A statement of the storage may itself be several. */
function rowsOfEach({ statements }: Message, answer: unknown): Rows {
  const answers: readonly unknown[] = Array.isArray(answer) ? answer : [answer]
  const missing = statements.length - answers.length
  return statements.map(({ returnsRows }, index) => (returnsRows ? rowsOf(answers[index - missing]) : []))
}

function rowsOf(answer: unknown): readonly unknown[] {
  if (typeof answer !== 'object' || answer === null || !('rows' in answer)) return []
  return Array.isArray(answer.rows) ? answer.rows : []
}

/** The number of `double precision` in the catalogue of types. */
const DOUBLE_PRECISION = 701

/** How every query reads its columns, whatever parsers the host has set for pg: our columns are texts and doubles. */
const TYPES: PgTypes = { getTypeParser: (type) => (type === DOUBLE_PRECISION ? Number : String) }

/** The names of prepared statements. They follow from the text, so that all processes agree behind a proxy. */
export class StatementNames {
  readonly #names = new Map<string, string>()
  #areUsable = true

  /** Returns the name of a statement; undefined if names cannot be used. */
  of(text: string): string | undefined {
    if (!this.#areUsable) return undefined
    const known = this.#names.get(text)
    if (known !== undefined) return known
    const name = `forgelet_${fingerprint(text)}`
    this.#names.set(text, name)
    return name
  }

  /** Uses no names from now on, because a proxy between the library and the server does not keep them. */
  giveUp(): void {
    this.#areUsable = false
  }
}

/** FNV-1a of 64 bits, over UTF-16 units. Source: http://www.isthe.com/chongo/tech/comp/fnv/ */
function fingerprint(text: string): string {
  let hash = 0xcbf29ce484222325n
  for (let index = 0; index < text.length; index += 1) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(text.charCodeAt(index))) * 0x100000001b3n)
  }
  return hash.toString(16).padStart(16, '0')
}

/** Returns whether a transaction is open; undefined if the version of pg does not know. */
export function statusOf(client: PgClient): 'inside' | 'outside' | undefined {
  if (!('getTransactionStatus' in client) || typeof client.getTransactionStatus !== 'function') return undefined
  const status: unknown = client.getTransactionStatus()
  if (status === 'I') return 'outside'
  return status === 'T' || status === 'E' ? 'inside' : undefined
}

/** Returns whether a client sends queries without waiting for the answers to those before: pg 8.23 and newer. */
function isPipelining(client: PgClient): client is PgClient & { pipeline: boolean } {
  return 'pipeline' in client && client.pipeline === true
}

/** Refused while a query of the host is unanswered. Then the client is slower, and otherwise the same. */
function pipelineAgain(client: { pipeline: boolean }): void {
  try {
    client.pipeline = true
  } catch {
    // as above
  }
}

/** Returns the socket of a client, if its driver has one. */
export function socketOf(client: unknown): unknown {
  if (typeof client !== 'object' || client === null || !('connection' in client)) return undefined
  const { connection } = client
  return typeof connection === 'object' && connection !== null ? Reflect.get(connection, 'stream') : undefined
}

/** Sends what work writes to a socket in one piece: each write is a call to the system, and often a packet. */
function inOneWrite<T>(socket: unknown, work: () => T): T {
  if (!isCorkable(socket)) return work()
  socket.cork()
  try {
    return work()
  } finally {
    socket.uncork()
  }
}

function isCorkable(socket: unknown): socket is { cork(): void; uncork(): void } {
  return hasMethods(socket, 'cork', 'uncork')
}
