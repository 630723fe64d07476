import type { Deadline } from '../server/call-deadline.ts'
import { poolBusy, unavailable } from '../server/failures.ts'
import type { HostWarnings } from '../server/host-warnings.ts'
import { LEFT_OPEN } from '../server/host-warnings.ts'
import type { ConnectionFacts } from './connection-facts.ts'
import { factsOf, refuseOtherServers, refuseUnfit } from './connection-facts.ts'
import { saysLost, translateConnectError, translateError } from './driver-errors.ts'
import type { MysqlConnection, MysqlPoolConnection } from './mysql-pool.ts'
import { destroyNow, hasListeners, physical } from './mysql-pool.ts'
import type { PoolSource } from './pool-source.ts'

/** A connection of the pool, until it is released. */
export interface Lent<C extends MysqlConnection> {
  readonly connection: C
  /** Returns the facts about it, checked. */
  readonly facts: () => Promise<ConnectionFacts>
  /** Discards the known facts, because a beforeCommit had the connection. */
  readonly forget: () => void
  /** Checks facts about it. @throws TypeError if it cannot be used */
  readonly check: (facts: ConnectionFacts) => ConnectionFacts
  /** The deadline of the call. */
  readonly deadline: Deadline
  /** Closes it instead of releasing it, because its state is unknown. */
  readonly spoil: () => void
}

/** Takes connections out of the pool, and checks the server of each connection the first time. */
export class Checkout<C extends MysqlConnection> {
  readonly #source: PoolSource<C>
  readonly #needsUuid: boolean
  readonly #warnings: HostWarnings
  readonly #known = new WeakSet<object>()
  readonly #facts = new WeakMap<object, ConnectionFacts>()
  #database: string | undefined

  /** @param needsUuid - whether ids are stored as `uuid`, which older servers do not support */
  constructor(source: PoolSource<C>, needsUuid: boolean, warnings: HostWarnings) {
    this.#source = source
    this.#needsUuid = needsUuid
    this.#warnings = warnings
  }

  /** The database of the pool's connections; undefined before the first connection. */
  get database(): string | undefined {
    return this.#database
  }

  /**
   * Runs work on a connection, and releases it. A connection whose call was interrupted is destroyed immediately.
   * @throws ForgeError `STORAGE_BUSY` if the pool has no free connection within the deadline; `STORAGE_UNAVAILABLE` if
   * the server accepts none
   */
  async on<T>(deadline: Deadline, work: (lent: Lent<C>) => Promise<T>): Promise<T> {
    const connection = await this.#connected(deadline)
    let spoilt = false
    const spoil = (): void => {
      spoilt = true
    }
    const stop = deadline.onInterrupt(() => destroyNow(connection))
    try {
      await this.#refuseOtherServers(connection, deadline, spoil)
      return await work({
        connection,
        facts: () => this.#factsOf(connection, deadline, spoil),
        forget: () => void this.#facts.delete(physical(connection)),
        check: (facts) => this.#check(facts),
        deadline,
        spoil,
      })
    } finally {
      stop()
      if (spoilt) connection.destroy()
      else if (!deadline.isOver) connection.release()
    }
  }

  /** A connection that arrives after the deadline is released unused. */
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
      throw translateConnectError(error)
    } finally {
      stop()
    }
    throw poolBusy()
  }

  async #refuseOtherServers(connection: C & MysqlPoolConnection, deadline: Deadline, spoil: () => void): Promise<void> {
    const key = physical(connection)
    if (this.#known.has(key)) return

    ignoreErrors(key)
    await asked(deadline, spoil, () => refuseOtherServers(connection, this.#needsUuid))
    this.#known.add(key)
  }

  /** The facts are kept for our own pool only. The host may change its connections between any two uses. */
  async #factsOf(connection: MysqlConnection, deadline: Deadline, spoil: () => void): Promise<ConnectionFacts> {
    const kept = this.#facts.get(physical(connection))
    if (kept !== undefined) return kept

    const facts = this.#check(await asked(deadline, spoil, () => factsOf(connection)))
    if (!this.#source.isHosts) this.#facts.set(physical(connection), facts)
    return facts
  }

  #check(facts: ConnectionFacts): ConnectionFacts {
    const database = refuseUnfit(facts)
    this.#database ??= database
    if (database !== this.#database) {
      throw new TypeError('a connection of the pool is on another database than the storage: the host has changed it')
    }
    if (facts.open === 'yes') this.#warnings.report(LEFT_OPEN)
    return facts
  }
}

async function asked<T>(deadline: Deadline, spoil: () => void, work: () => Promise<T>): Promise<T> {
  try {
    return await deadline.ask(work)
  } catch (error) {
    if (saysLost(error)) spoil()
    throw translateError(error, 'call')
  }
}

/** Two errors on one connection end the process: the pool listens for the first only. */
function ignoreErrors(connection: object): void {
  if (hasListeners(connection) && !connection.listeners('error').includes(ignore)) connection.on('error', ignore)
}

const NO_CONNECTION = 'the server accepted no connection within five seconds'
const NO_ANSWER = 'the server did not answer within five seconds'

/**
 * Calls a listener if a call waits in the pool because all of its connections are in use. Returns a function that
 * removes the listener.
 */
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

/** The work on the connection reports its loss. */
function ignore(): void {}
