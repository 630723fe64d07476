import type { KnownHost, MountedHost } from '../known-host.ts'
import { Answer } from './answer.ts'
import type { Line } from './line.ts'
import { dial } from './line.ts'
import { mountFailure } from './mount-failure.ts'
import type { Probe } from './probe.ts'
import { nobody, probeOf } from './probe.ts'
import type { Asked } from './request.ts'
import { requestLine, requestText } from './request.ts'

/** When the responses of a connection are read: while requests are sent, or only after all of them have been sent. */
export type Reading = 'at once' | 'late'

/** The run of one case against one application: its requests, its connections, and the responses. */
export class Visit {
  readonly known: KnownHost
  readonly prefix: string
  readonly probe: Probe
  readonly #origin: string
  readonly #host: string
  readonly #mend: string
  readonly #lines: Line[] = []
  #sent = 'nothing yet'

  constructor({ origin, prefix }: MountedHost, known: KnownHost, mend: string) {
    this.known = known
    this.prefix = prefix
    this.probe = probeOf(known.services)
    this.#origin = origin
    this.#host = new URL(origin).host
    this.#mend = mend
  }

  /** The `Authorization` header of a user who may do everything. */
  get credentials(): Readonly<Record<string, string>> {
    const { authorization } = this.known
    return authorization === undefined ? {} : { Authorization: authorization }
  }

  /** An `Authorization` header of the same scheme with an unknown token. */
  get wrongCredentials(): Readonly<Record<string, string>> {
    const [scheme = ''] = (this.known.authorization ?? '').split(' ')
    return { Authorization: `${scheme} forgelet-no-such-token` }
  }

  /** Sends a request on a new connection. */
  async ask(asked: Asked): Promise<Answer> {
    const [answer] = await this.askInTurn([asked])
    if (answer === undefined) throw new RangeError('one request has one answer')
    return answer
  }

  /** Sends requests on one connection without waiting, and reads their responses. */
  async askInTurn(requests: readonly Asked[], reading: Reading = 'at once'): Promise<readonly Answer[]> {
    const line = await this.#open(requests)
    const sent = this.#send(line, requests)
    sent.catch(() => undefined) // awaited below, after the earlier responses have been read
    if (reading === 'late') await sent

    const answers: Answer[] = []
    for (const asked of requests) answers.push(await this.#answer(line, asked))
    await sent
    line.cut()
    return answers
  }

  /** Sends a request, waits for `then`, and closes the connection without reading the response. */
  async askAndLeave(asked: Asked, then: () => Promise<unknown>): Promise<void> {
    const line = await this.#open([asked])
    await this.#send(line, [asked])
    await then()
    line.cut()
  }

  /** Checks that the server still responds correctly. */
  async mustLiveOn(): Promise<void> {
    const answer = await this.ask({ path: this.probe.path(nobody) })
    answer.mustRefuse(this.probe.status, this.probe.code)
  }

  /** Creates the error of a case that does not end. */
  hangs(milliseconds: number): Error {
    return this.#failure(`no end within ${milliseconds / 1000} s`)
  }

  /** Closes every connection. */
  end(): void {
    for (const line of this.#lines) line.cut()
  }

  async #open(requests: readonly Asked[]): Promise<Line> {
    this.#sent = requests.map((asked) => requestLine(this.prefix, asked)).join(', then ')
    const line = await this.#dial()
    this.#lines.push(line)
    return line
  }

  async #dial(): Promise<Line> {
    try {
      return await dial(this.#origin)
    } catch (error) {
      if (error instanceof TypeError) throw error // the host's `start` returned an invalid origin
      throw this.#failure(`no connection: ${messageOf(error)}`)
    }
  }

  async #send(line: Line, requests: readonly Asked[]): Promise<void> {
    try {
      for (const asked of requests) await line.send(requestText(this.#host, this.prefix, asked))
    } catch (error) {
      throw this.#failure(`the connection was cut while it was sent: ${messageOf(error)}`)
    }
  }

  async #answer(line: Line, asked: Asked): Promise<Answer> {
    const facts = { sent: this.#sent, mend: this.#mend }
    try {
      return new Answer(await line.reply(asked.method ?? 'GET'), facts)
    } catch (error) {
      throw this.#failure(`no whole answer to ${requestLine(this.prefix, asked)}: ${messageOf(error)}`)
    }
  }

  #failure(came: string): Error {
    return mountFailure({ sent: this.#sent, came, should: 'a whole answer to each request', mend: this.#mend })
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
