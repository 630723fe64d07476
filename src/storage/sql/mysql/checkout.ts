import type { Deadline } from '../server/call-deadline.ts'
import { poolBusy, unavailable } from '../server/failures.ts'
import type { ConnectionFacts } from './connection-facts.ts'
import { factsOf, refuseOtherServers, refuseUnfit } from './connection-facts.ts'
import { saysLost, translateError } from './driver-errors.ts'
import type { MysqlConnection, MysqlPoolConnection } from './mysql-pool.ts'
import { destroyNow, physical } from './mysql-pool.ts'
import type { PoolSource } from './pool-source.ts'

/** A connection that we have, until it is given back. */
export interface Lent<C extends MysqlConnection> {
  readonly connection: C
  readonly facts: ConnectionFacts
  /** The deadline of the call. */
  readonly deadline: Deadline
  /** Has it closed in place of given back: nobody knows in what state it is. */
  readonly spoil: () => void
}

/** Takes connections out of the pool, and looks at each the first time. */
export class Checkout<C extends MysqlConnection> {
  readonly #source: PoolSource<C>
  readonly #needsUuid: boolean
  readonly #heard = new WeakSet<object>()
  readonly #known = new WeakMap<object, ConnectionFacts>()
  #database: string | undefined

  /** @param needsUuid - whether ids are kept as `uuid`, which older servers do not know */
  constructor(source: PoolSource<C>, needsUuid: boolean) {
    this.#source = source
    this.#needsUuid = needsUuid
  }

  /** The database of the pool's connections; undefined before the first. */
  get database(): string | undefined {
    return this.#database
  }

  /**
   * Runs work on a connection, and gives that back; one whose call was interrupted is destroyed at once.
   * @throws ForgeError `STORAGE_BUSY` when the pool has no free connection within the deadline; `STORAGE_UNAVAILABLE` when
   * the server accepts none; TypeError when the connection is not fit for use
   */
  async on<T>(deadline: Deadline, work: (lent: Lent<C>) => Promise<T>): Promise<T> {
    const connection = await this.#connected(deadline)
    let spoilt = false
    const spoil = (): void => {
      spoilt = true
    }
    const stop = deadline.onInterrupt(() => destroyNow(connection))
    try {
      const facts = await this.#look(connection, spoil, deadline)
      return await work({ connection, facts, deadline, spoil })
    } finally {
      stop()
      if (spoilt) connection.destroy()
      else if (!deadline.isOver) connection.release()
    }
  }

  /** A connection that comes after the deadline goes back unused. */
  async #connected(deadline: Deadline): Promise<C & MysqlPoolConnection> {
    const { pool } = this.#source
    let isWaiting = false
    const stop = onEnqueue(pool, () => {
      isWaiting = true
    })
    deadline.expireWith(() => (isWaiting ? poolBusy() : unavailable(NO_CONNECTION)))
    try {
      const connection = await deadline.ask(() => {
        const connecting = pool.getConnection()
        stop()
        return connecting
      })
      deadline.expireWith(() => unavailable(NO_ANSWER))
      if (!deadline.isOver) return connection

      connection.release()
    } catch (error) {
      throw translateError(error, 'call')
    } finally {
      stop()
    }
    throw poolBusy()
  }

  async #look(connection: C & MysqlPoolConnection, spoil: () => void, deadline: Deadline): Promise<ConnectionFacts> {
    const key = physical(connection)
    const known = this.#known.get(key)
    if (known !== undefined) return known

    this.#hear(key, connection)
    try {
      const facts = await deadline.ask(() => this.#ask(connection))
      this.#known.set(key, facts)
      return facts
    } catch (error) {
      if (saysLost(error)) spoil()
      throw translateError(error, 'call')
    }
  }

  async #ask(connection: MysqlConnection): Promise<ConnectionFacts> {
    await refuseOtherServers(connection, this.#needsUuid)
    const facts = await factsOf(connection)
    this.#database = refuseUnfit(facts)
    return facts
  }

  /** Two errors on one connection, the pool hearing the first alone, would end the process. */
  #hear(key: object, connection: MysqlPoolConnection): void {
    if (!this.#heard.has(key)) connection.on('error', ignore)
    this.#heard.add(key)
  }
}

const NO_CONNECTION = 'the server accepted no connection within five seconds'
const NO_ANSWER = 'the server did not answer within five seconds'

/** Calls a listener when a call waits in the pool, since all of its connections are in use. Returns what removes it. */
function onEnqueue(pool: object, listener: () => void): () => void {
  if (!isEmitter(pool)) return ignore

  pool.on('enqueue', listener)
  return () => void pool.off('enqueue', listener)
}

interface Emitter {
  on(event: 'enqueue', listener: () => void): unknown
  off(event: 'enqueue', listener: () => void): unknown
}

function isEmitter(pool: object): pool is Emitter {
  return ['on', 'off'].every((name) => typeof Reflect.get(pool, name) === 'function')
}

/** Who has work on the connection is told by that. */
function ignore(): void {}
