import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Api } from '../../../src/http-adapters/http.ts'

/** Someone who is signed in, whatever the world. */
export interface SignedIn {
  readonly id: string | number | bigint
}

/** What is mounted: asked for at every request, so that one server does for many worlds. */
export interface Mounted<A extends SignedIn> {
  readonly api: Api<A>
  /** Whose `Authorization` header this is. */
  authenticate(header: string | undefined): Promise<A | null> | A | null
}

/** The body parsers of Express; each position is a host of its own. */
export type Parser = 'json' | 'raw' | 'urlencoded'

/** How a host mounts an API. */
export interface Mounting {
  /** `""`, or a path without a slash at its end. */
  readonly prefix: string
  /** A body parser that a request meets before the API. */
  readonly before?: Parser | undefined
  /** A body parser that only requests meet which the API has let pass. */
  readonly behind?: Parser | undefined
}

/** A real server of a framework that is running. */
export interface Running {
  /** Without a slash at its end. */
  readonly origin: string
  stop(): Promise<void>
}

/** Where frameworks differ, as far as a test must know. */
export interface HostTraits {
  /** Whether it has the body parsers of Express. */
  readonly hasParsers: boolean
  /** Whether its router answers a malformed `%` itself, with 400, before a handler is called. */
  readonly refusesMalformed: boolean
  /** The statuses with which it refuses by itself what it does not understand, before the API is asked. */
  readonly ownRefusals: readonly number[]
  /** Whether it takes slashes behind the mount point for one. */
  readonly mergesSlashes: boolean
  /** Whether what it makes of a request has `.` and `..` resolved and `\` turned over, as addresses of the Fetch standard have. */
  readonly resolvesDots: boolean
  /** Whether the host answers, behind the API, what is not the API's. */
  readonly letsPass: boolean
}

/** A host that hands on every request as it came, and has no last word. */
export const PLAIN: HostTraits = {
  hasParsers: false,
  refusesMalformed: false,
  ownRefusals: [],
  mergesSlashes: false,
  resolvesDots: false,
  letsPass: false,
}

/** A framework, and how an API is mounted there, as its users would. */
export interface Host extends HostTraits {
  readonly name: string
  /**
   * Starts a server on a port of its own. Before the API it sets the cookies `host=1` and `theme=dark` and the header
   * `X-Host: here`; where its framework can let a path pass, it answers `the host: PATH?QUERY` behind the API.
   */
  start<A extends SignedIn>(mounted: () => Mounted<A>, mounting: Mounting): Promise<Running>
}

/** What every host sets before the API is asked. */
export const HOST_HEADERS: Readonly<Record<string, string | readonly string[]>> = {
  'Set-Cookie': ['host=1', 'theme=dark'],
  'X-Host': 'here',
}

/** Starts to listen on a port of the loopback. */
export async function running(server: Server): Promise<Running> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return listening(server)
}

/** A server that listens. */
export function listening(server: Server): Running {
  const { port } = server.address() as AddressInfo // a server that listens on a port has such an address
  return {
    origin: `http://127.0.0.1:${port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
