import { closedError } from '../../../schema/errors.ts'
import type { MaybePromise, Steps } from '../../../schema/steps.ts'
import { runNow } from '../../../schema/steps.ts'
import type { SchemaStatus } from '../../contract/forge-storage.ts'
import { migrateAtOnce } from '../migrations/migrate-at-once.ts'
import type { Schema } from '../schema.ts'
import type { Session, SqlRuntime, WriteCircumstances } from '../session.ts'
import type { DurableObjectDatabase } from './durable-object-database.ts'
import { DurableObjectSession } from './durable-object-session.ts'

/**
 * Where the stores' work runs in a Durable Object. Nothing tells whether a transaction of the host's is open there, and none
 * outlasts the turn it was begun in: so whatever is called plainly runs a turn later, and never becomes a part of one.
 */
export class DurableObjectRuntime<S extends DurableObjectDatabase> implements SqlRuntime<S> {
  readonly #database: S
  readonly #schema: Schema
  readonly #session: DurableObjectSession
  #usable = false
  #closed = false
  #changing = false

  constructor(database: S, schema: Schema) {
    this.#database = database
    this.#schema = schema
    this.#session = new DurableObjectSession(database)
  }

  /** As the storage's `enter`. */
  enter(transaction: S): void {
    this.#refuseInside()
    this.#reach(transaction)
  }

  read<T>(work: (session: Session) => Steps<T>, transaction: S | undefined): MaybePromise<T> {
    if (transaction === undefined) return this.#later(() => runNow(work(this.#usableSession())))

    this.#reach(transaction)
    return runNow(work(this.#session))
  }

  /** Nothing else runs between two statements of one turn. */
  readSnapshot<T>(work: (session: Session) => Steps<T>, transaction: S | undefined): MaybePromise<T> {
    return this.read(work, transaction)
  }

  readOutside<T>(work: (session: Session) => Steps<T>): MaybePromise<T> {
    return this.read(work, undefined)
  }

  write<T>(
    work: (session: Session, open: S) => Steps<T>,
    { transaction, signal }: WriteCircumstances<S>,
  ): MaybePromise<T> {
    this.#refuseInside()
    const change = (): T => {
      signal?.throwIfAborted()
      return this.#change(() => work(this.#usableSession(), this.#database))
    }
    if (transaction === undefined) return this.#later(change)

    this.#reach(transaction)
    return change()
  }

  /** Brings the tables up to date. */
  migrate(): Promise<void> {
    return this.#later(() => {
      if (runNow(this.#schema.needsMigration(this.#session))) {
        this.#change(() => migrateAtOnce(this.#schema, this.#session))
      }
    })
  }

  /** How the tables are; writes nothing. */
  status(): Promise<SchemaStatus> {
    return this.#later(() => ({ state: runNow(this.#schema.state(this.#session)), warnings: [] }))
  }

  /** Takes no new calls from now on; what was called before is answered. */
  close(): void {
    this.#closed = true
  }

  /** Runs work all or nothing. Where the host has a transaction open, the work is a part of it. */
  #change<T>(work: () => Steps<T>): T {
    this.#changing = true
    try {
      return this.#database.transactionSync(() => runNow(work()))
    } finally {
      this.#changing = false
    }
  }

  async #later<T>(work: () => T): Promise<T> {
    this.#refuseClosed()
    await null
    return work()
  }

  /** @throws TypeError for what is not the storage of this object */
  #reach(transaction: S): void {
    this.#refuseClosed()
    if (transaction !== this.#database) {
      throw new TypeError('the transaction must be the ctx.storage that the forge keeps its data in')
    }
    this.#usableSession()
  }

  /** @throws ForgeError `SCHEMA_OUTDATED`, `SCHEMA_TOO_NEW` */
  #usableSession(): Session {
    if (!this.#usable) runNow(this.#schema.refuseUnusable(this.#session))
    this.#usable = true
    return this.#session
  }

  #refuseClosed(): void {
    if (this.#closed) throw closedError('the storage is closed')
  }

  /** A change that is made from inside another would be a part of it. */
  #refuseInside(): void {
    if (this.#changing) throw new TypeError('beforeCommit must not change the forge: its change is still open')
  }
}
