import type { KnownHost, MountedHost } from '../known-host.ts'
import { Answer, mountFailure } from './answer.ts'
import type { Probe } from './probe.ts'
import { probeOf, UNKNOWN_NAME } from './probe.ts'
import type { RawConnection } from './raw-connection.ts'
import { connect } from './raw-connection.ts'
import type { RawRequest } from './request.ts'
import { requestBytes, requestLine } from './request.ts'

/** When the responses of a connection are read: while requests are sent, or only after all of them have been sent. */
export type Reading = 'at once' | 'late'

/** The client of one case: sends its requests to one application, and keeps the connections. */
export class ContractClient {
  readonly known: KnownHost
  readonly prefix: string
  readonly probe: Probe
  readonly #origin: string
  readonly #host: string
  readonly #fix: string
  readonly #connections: RawConnection[] = []
  #sent = 'nothing yet'

  constructor({ origin, prefix }: MountedHost, known: KnownHost, fix: string) {
    this.known = known
    this.prefix = prefix
    this.probe = probeOf(known.services)
    this.#origin = origin
    this.#host = new URL(origin).host
    this.#fix = fix
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
  async request(request: RawRequest): Promise<Answer> {
    const [answer] = await this.pipeline([request])
    if (answer === undefined) throw new RangeError('one request receives one response')
    return answer
  }

  /** Sends requests on one connection without waiting, and reads their responses. */
  async pipeline(requests: readonly RawRequest[], reading: Reading = 'at once'): Promise<readonly Answer[]> {
    const connection = await this.#open(requests)
    const sent = this.#send(connection, requests)
    sent.catch(() => undefined) // awaited below, after the earlier responses have been read
    if (reading === 'late') await sent

    const answers: Answer[] = []
    for (const request of requests) answers.push(await this.#answer(connection, request))
    await sent
    connection.destroy()
    return answers
  }

  /** Sends a request, waits for `then`, and closes the connection without reading the response. */
  async requestAndDisconnect(request: RawRequest, then: () => Promise<unknown>): Promise<void> {
    const connection = await this.#open([request])
    await this.#send(connection, [request])
    await then()
    connection.destroy()
  }

  /** Checks that the server still responds correctly. */
  async mustStillAnswer(): Promise<void> {
    const answer = await this.request({ path: this.probe.path(UNKNOWN_NAME) })
    answer.mustRefuse(this.probe.status, this.probe.code)
  }

  /** Creates the error of a case that does not end. */
  hangs(milliseconds: number): Error {
    return this.#failure(`no end within ${milliseconds / 1000} s`)
  }

  /** Closes every connection. */
  end(): void {
    for (const connection of this.#connections) connection.destroy()
  }

  async #open(requests: readonly RawRequest[]): Promise<RawConnection> {
    this.#sent = requests.map((request) => requestLine(this.prefix, request)).join(', then ')
    const connection = await this.#connect()
    this.#connections.push(connection)
    return connection
  }

  async #connect(): Promise<RawConnection> {
    try {
      return await connect(this.#origin)
    } catch (error) {
      if (error instanceof TypeError) throw error // the host's `start` returned an invalid origin
      throw this.#failure(`no connection: ${messageOf(error)}`)
    }
  }

  async #send(connection: RawConnection, requests: readonly RawRequest[]): Promise<void> {
    try {
      for (const request of requests) await connection.send(requestBytes(this.#host, this.prefix, request))
    } catch (error) {
      throw this.#failure(`the connection was cut while it was sent: ${messageOf(error)}`)
    }
  }

  async #answer(connection: RawConnection, request: RawRequest): Promise<Answer> {
    const facts = { sent: this.#sent, fix: this.#fix }
    try {
      return new Answer(await connection.reply(request.method ?? 'GET'), facts)
    } catch (error) {
      throw this.#failure(`no complete response to ${requestLine(this.prefix, request)}: ${messageOf(error)}`)
    }
  }

  #failure(received: string): Error {
    return mountFailure({ sent: this.#sent, received, expected: 'a complete response to each request', fix: this.#fix })
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
