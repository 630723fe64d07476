import type { Agent, ClientRequest, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { KnownHost, MountedHost } from '../known-host.ts'
import type { DescribedBy, Reply } from './answer.ts'
import { Answer, mountFailure } from './answer.ts'
import type { Probe } from './probe.ts'
import { probeOf } from './probe.ts'

/** A request that a case sends. */
export interface MountRequest {
  /** Default GET. */
  readonly method?: string | undefined
  /** Relative to the mount point. */
  readonly path: string
  /** Replaces the mount point and the path, unchanged. */
  readonly target?: string | undefined
  /**
   * `Host` replaces the default host. A list stands for a header with several lines; an empty list omits the header.
   */
  readonly headers?: { readonly [name: string]: string | readonly string[] } | undefined
  readonly body?: string | Uint8Array | undefined
  /** The framing of the body. Default: its length. 'unfinished': announces a million bytes and sends one of them. */
  readonly framing?: 'length' | 'chunked' | 'unfinished' | undefined
  /** When the response is read. Default: as it arrives. 'late': only after the whole request has been sent. */
  readonly reading?: 'at once' | 'late' | undefined
  /** The parts of the known host from which the request is made: what comes may show that one of them is wrong. */
  readonly describedBy?: readonly DescribedBy[] | undefined
}

/** A refusal: the status and the code of an error. */
export interface Refusal {
  readonly status: number
  readonly code: string
}

/** A token that no host has. */
export const WRONG_TOKEN = 'forgelet-wrong-token'
const CHUNK = 65_536

/** The framings of a body that is sent whole. */
export const FRAMINGS = ['length', 'chunked'] as const
/** More bytes than the buffers at both ends of a connection hold together. */
export const MORE = 6_000_000
/** The refusal of a body over the limit. */
export const TOO_LARGE: Refusal = { status: 413, code: 'BODY_TOO_LARGE' }

/** The client of one case: sends its requests to one application. */
export class ContractClient {
  readonly known: KnownHost
  readonly prefix: string
  readonly probe: Probe
  readonly #origin: string
  readonly #fix: string
  readonly #agents: Agent[] = []
  #sent = 'nothing yet'

  constructor({ origin, prefix }: MountedHost, known: KnownHost, fix: string) {
    this.known = known
    this.prefix = prefix
    this.probe = probeOf(known.services)
    this.#origin = origin
    this.#fix = fix
  }

  /** The `Authorization` header of a user who may do everything. */
  get credentials(): Readonly<Record<string, string>> {
    const { authorization } = this.known
    return authorization === undefined ? {} : { Authorization: authorization }
  }

  /** An `Authorization` header of the same scheme with a wrong token. */
  get wrongCredentials(): Readonly<Record<string, string>> {
    const scheme = /^\S+ /.exec(this.known.authorization ?? '') ?? ''
    return { Authorization: `${scheme}${WRONG_TOKEN}` }
  }

  /** Sends a request on a new connection, and requires the status, if one is given. */
  async request(request: MountRequest, status?: number): Promise<Answer> {
    const [answer] = await this.#exchange(request)
    if (status !== undefined) answer.mustBe(status)
    return answer
  }

  /** As `request`. Requires that the same connection then answers the probe twice. */
  async requestAndGoOn(request: MountRequest, status?: number): Promise<Answer> {
    const { probe } = this
    const [answer, ...others] = await this.#exchange(request, probe, probe)
    for (const other of others) other.mustRefuse(probe.status, probe.code)
    if (status !== undefined) answer.mustBe(status)
    return answer
  }

  /** Requires that each of these requests is refused in this way. Default: as the probe is. */
  async mustRefuse(requests: readonly MountRequest[], { status, code }: Refusal = this.probe): Promise<void> {
    for (const request of requests) (await this.request(request)).mustRefuse(status, code)
  }

  /** Checks that the server still responds correctly. */
  async mustStillAnswer(): Promise<void> {
    await this.mustRefuse([this.probe])
  }

  /**
   * Sends a request, waits for `then`, and closes the connection without reading the response. A response that comes before
   * `then` fulfils is a failure: nothing waits.
   */
  async requestAndDisconnect(request: MountRequest, then: () => Promise<unknown>): Promise<void> {
    const open = await this.#connect([request])
    const message = open(request)
    const early = receive(message).then(
      (reply) => this.#answer(request, reply),
      () => new Promise<never>(() => undefined), // a connection that fails is the error of what sends
    )
    await this.#mustArrive(request, send(message, request))
    const answer = await Promise.race([then(), early])
    if (answer instanceof Answer) answer.must(false, 'no response before the client disconnects')
    message.destroy()
  }

  /** Creates the error of a case that does not end. */
  hangs(milliseconds: number): Error {
    return this.#failure(`no end within ${milliseconds / 1000} s`)
  }

  /** Closes every connection. */
  end(): void {
    for (const agent of this.#agents) agent.destroy()
  }

  async #exchange(first: MountRequest, ...others: readonly MountRequest[]): Promise<readonly [Answer, ...Answer[]]> {
    const open = await this.#connect([first, ...others])
    const sockets = new Set<Socket>()
    const exchange = async (request: MountRequest): Promise<Answer> => {
      const message = open(request).once('socket', (socket) => sockets.add(socket))
      const sent = send(message, request)
      if (request.reading === 'late') message.once('socket', (socket) => void delay(socket, sent))
      const [reply] = await this.#mustArrive(request, Promise.all([receive(message), sent]))
      if (sockets.size > 1) throw this.#failure(`the connection was closed before ${this.#line(request)}`)
      return this.#answer(request, reply)
    }
    return Promise.all([exchange(first), ...others.map(exchange)])
  }

  /** Returns what opens requests: they follow each other on one connection, each after the response to the one before. */
  async #connect(requests: readonly MountRequest[]): Promise<(request: MountRequest) => ClientRequest> {
    this.#sent = requests.map((request) => this.#line(request)).join(', then ')
    const { protocol, host } = new URL(this.#origin)
    if (protocol !== 'http:')
      throw new TypeError(`origin must be http://host:port, as the application listens: ${this.#origin}`)

    const http = await import('node:http') // only here: tests of business rules do without it
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    this.#agents.push(agent)
    return (request) => {
      const { method = 'GET', headers } = request
      const message = http.request(this.#origin, { agent, method, path: this.#target(request), setHost: false })
      for (const [name, value] of Object.entries({ Host: host, ...framingOf(request), ...headers })) {
        message.setHeader(name, [value].flat())
      }
      return message.on('error', () => undefined) // reported where it is awaited
    }
  }

  async #mustArrive<T>(request: MountRequest, arrives: Promise<T>): Promise<T> {
    try {
      return await arrives
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw this.#failure(`no complete response to ${this.#line(request)}: ${reason}`)
    }
  }

  #answer({ describedBy }: MountRequest, reply: Reply): Answer {
    return new Answer(reply, { sent: this.#sent, fix: this.#fix, describedBy })
  }

  #failure(received: string): Error {
    return mountFailure({ sent: this.#sent, received, expected: 'a complete response to each request', fix: this.#fix })
  }

  #target({ target, path }: MountRequest): string {
    return target ?? `${this.prefix}${path}`
  }

  /** Describes a request for an error message. The known credential does not appear in the reports of test runners. */
  #line(request: MountRequest): string {
    const { method = 'GET', headers = {}, body, framing = 'length' } = request
    const shown = Object.entries(headers).map(
      ([name, value]) => `${name}: ${value === this.known.authorization ? '(the known one)' : JSON.stringify(value)}`,
    )
    if (framing === 'unfinished') shown.push('a body of which only the first byte arrives')
    else if (body !== undefined) shown.push(`${Buffer.byteLength(body)} bytes of body (${framing})`)
    const target = this.#target(request)
    const short = target.length <= 120 ? target : `${target.slice(0, 120)}... (${target.length} characters)`
    return `${method} ${short}${shown.length === 0 ? '' : ` with ${shown.join(', ')}`}`
  }
}

function framingOf({ body, framing }: MountRequest): Readonly<Record<string, string>> {
  if (framing === 'unfinished') return { 'Content-Length': '1000000' }
  if (body === undefined) return {}
  return framing === 'chunked' ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': `${Buffer.byteLength(body)}` }
}

/** Fulfils when the system has accepted the request. */
function send(message: ClientRequest, { body = '', framing }: MountRequest): Promise<void> {
  return new Promise((resolve, reject) => {
    message.once('error', reject)
    message.once('close', () => reject(new Error('the connection was closed while the request was sent')))
    if (framing === 'unfinished') return message.write(' ', () => resolve())
    const bytes = Buffer.from(body)
    for (let at = 0; at < bytes.length; at += CHUNK) message.write(bytes.subarray(at, at + CHUNK))
    message.end(resolve)
  })
}

async function receive(message: ClientRequest): Promise<Reply> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    message.once('response', resolve).once('error', reject)
  })
  // Node closes the connection after a response to HEAD that has no length, although nothing follows it.
  if (message.method === 'HEAD') message.shouldKeepAlive = response.headers.connection !== 'close'
  const { text } = await import('node:stream/consumers')
  const { statusCode: status = 0, rawHeaders: raw } = response
  const headers = raw.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), raw[at + 1] ?? ''] as const] : []))
  return { status, headers, body: await text(response) }
}

/** Leaves what arrives in the buffers of the system until the request has been sent. */
async function delay(socket: Socket, sent: Promise<void>): Promise<void> {
  socket.pause()
  await sent.catch(() => undefined)
  socket.resume()
}

/** Returns a request about the block of a user by the known organization. */
export function blocking({ known, credentials }: ContractClient, user: string | undefined, query = ''): MountRequest {
  return {
    method: 'PUT',
    path: `/orgs/${known.organization}/blocks/${user}${query}`,
    headers: credentials,
    describedBy: ['services', 'authorization', 'organization', 'users'],
  }
}

/**
 * Requires that these requests each block a user, asks something then, and unblocks those users. A user whom the
 * organization blocked before stays blocked.
 */
export async function whileBlocked<T>(
  client: ContractClient,
  requests: readonly MountRequest[],
  ask: () => Promise<T>,
): Promise<T> {
  const blocked: MountRequest[] = []
  try {
    for (const request of requests) {
      blocked.push(request)
      const answer: Answer = await client.request(request)
      if (answer.json['code'] === 'ALREADY_BLOCKED') blocked.pop()
      answer.mustBe(204)
    }
    return await ask()
  } finally {
    for (const { path, ...request } of blocked) {
      await client.request({ ...request, method: 'DELETE', path: path.replace(/\?.*/, '') })
    }
  }
}
