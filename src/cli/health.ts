import type { Logger } from '../index.ts'
import { isForgeError } from '../index.ts'
import type { Standalone } from '../standalone/standalone.ts'
import { errorBody, replyJson } from './json-reply.ts'
import type { Visit } from './static-page.ts'
import { isRead } from './static-page.ts'

/** What a server does. It starts, then serves, then shuts down. */
type Phase =
  | { readonly name: 'starting' | 'shutting down' }
  | { readonly name: 'serving'; readonly host: Pick<Standalone, 'checkDatabase'>; readonly logger: Logger }

/** Answers the probes of load balancers and process managers: `/healthz` for the process, `/readyz` for the service. */
export class Health {
  #phase: Phase = { name: 'starting' }
  /** The check of the database that is running: probes that arrive meanwhile wait for the same. */
  #check: Promise<string | undefined> | undefined
  #reported: string | undefined

  /** @param logger - reports why the server is not ready: the reply only names the kind of the problem */
  serves(host: Pick<Standalone, 'checkDatabase'>, logger: Logger): void {
    this.#phase = { name: 'serving', host, logger }
  }

  shutsDown(): void {
    this.#phase = { name: 'shutting down' }
  }

  /** Answers a request for one of the two paths, or returns false. */
  answer(path: string, visit: Visit): boolean {
    if (path !== '/healthz' && path !== '/readyz') return false
    if (!isRead(visit)) return true

    if (path === '/healthz') reply(visit, undefined)
    else void this.#obstacle().then((obstacle) => reply(visit, obstacle))
    return true
  }

  /** Returns why the server does not accept requests now, or undefined if it does. */
  async #obstacle(): Promise<string | undefined> {
    if (this.#phase.name !== 'serving') return `the server is ${this.#phase.name}`

    const { host, logger } = this.#phase
    this.#check ??= this.#checked(host, logger).finally(() => {
      this.#check = undefined
    })
    const obstacle = await this.#check
    return this.#phase.name === 'serving' ? obstacle : this.#obstacle()
  }

  async #checked(host: Pick<Standalone, 'checkDatabase'>, logger: Logger): Promise<string | undefined> {
    try {
      await host.checkDatabase()
      this.#reported = undefined
      return undefined
    } catch (error) {
      const obstacle = (isForgeError(error) && OBSTACLES[error.code]) || 'the database cannot be used'
      if (this.#reported !== obstacle) logger.warn(`not ready: ${obstacle}`, { error })
      this.#reported = obstacle
      return obstacle
    }
  }
}

/** What a stranger may read. The message of the error goes to the log. */
const OBSTACLES: { readonly [code: string]: string | undefined } = {
  STORAGE_UNAVAILABLE: 'the database is unavailable',
  STORAGE_BUSY: 'the database is busy',
  SCHEMA_OUTDATED: 'the tables of the database are missing or outdated',
  SCHEMA_TOO_NEW: 'the tables of the database are for newer releases only',
}

function reply({ response, docsUrl }: Visit, obstacle: string | undefined): void {
  if (obstacle === undefined) replyJson(response, 200, { status: 'ok' })
  else replyJson(response, 503, errorBody('NOT_READY', obstacle, docsUrl))
}
