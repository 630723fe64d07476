import type { ServiceName } from '../../http-adapters/http.ts'

/** An application that runs, with an API mounted in it. */
export interface MountedHost {
  /** In plain HTTP, without a slash at its end: `http://127.0.0.1:3000`. */
  readonly origin: string
  /** Where the API is: `/api/v1`, or `""` for the root. */
  readonly prefix: string
  /** Called when a case is over. Of an application that all cases share it does nothing. */
  stop(): Promise<void>
}

/** A path of the host's own. */
export interface HostPath {
  /** With the mount point, if it is below; and with a query, if it has one. */
  readonly path: string
  /** Somewhere in the answer to GET. */
  readonly text: string
}

/** A path of the API behind which a port fails on GET. */
export interface FailingPath {
  /** Below the mount point. */
  readonly path: string
  /** A part of the message of what is thrown: no client may see it. */
  readonly secret: string
}

/** A path of the API behind which a port waits on GET, until its `signal` is aborted. */
export interface WaitingPath {
  /** Below the mount point. */
  readonly path: string
  /** Fulfils when the port is asked. */
  asked(): Promise<unknown>
  /** Fulfils when the port's signal is aborted. */
  aborted(): Promise<unknown>
}

/**
 * What the contract may know of an application. Each part may be left out: then the cases that need it are not in the list.
 * Nothing is changed for good: who is blocked by a case is unblocked by it.
 */
export interface KnownHost {
  /** Which services are mounted. Default: all. */
  readonly services?: readonly ServiceName[] | undefined
  /** The `Authorization` header of someone who may do everything: a site administrator. */
  readonly authorization?: string | undefined
  /** An organization. */
  readonly organization?: string | undefined
  /** Two users who are not members of the organization, not blocked there, and not the user of `authorization`. */
  readonly users?: readonly [string, string] | undefined
  /** A repository that everybody may read. */
  readonly repository?: `${string}/${string}` | undefined
  /** As given to `createApi`; without it links must be relative. */
  readonly publicUrl?: string | undefined
  /** As given to `createApi`. Default: 1,048,576. */
  readonly maxBodyBytes?: number | undefined
  /** As given to the mounting. With 'allow' the cases about other sites are not in the list. Default: 'refuse'. */
  readonly crossSite?: 'refuse' | 'allow' | undefined
  /** What the application itself puts on every answer, cookies above all; a list is a header of several lines. */
  readonly headers?: { readonly [name: string]: string | readonly string[] } | undefined
  /** Where the application answers itself, above all where that is below the mount point. */
  readonly elsewhere?: readonly HostPath[] | undefined
  readonly failing?: FailingPath | undefined
  readonly waiting?: WaitingPath | undefined
}
