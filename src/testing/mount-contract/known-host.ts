import type { ServiceName } from '../../http-adapters/http.ts'
import { isObject } from '../../schema/arguments.ts'
import type { OptionRule, OptionRules } from '../../schema/options.ts'
import { checkOptions, oneOf, optional } from '../../schema/options.ts'

/** A running application with a mounted API. */
export interface MountedHost {
  /** An origin in plain HTTP, without a trailing slash: `http://127.0.0.1:3000`. */
  readonly origin: string
  /** The mount point of the API: `/api/v1`, or `""` for the root. */
  readonly prefix: string
  /** Called when a case is over. If all cases share the application, it does nothing. */
  stop(): Promise<void>
}

/** A path that the host itself serves. */
export interface HostPath {
  /** Includes the mount point if the path is below it, and the query if there is one. */
  readonly path: string
  /** A text that the response to GET contains. */
  readonly text: string
}

/** A path of the API for which a port fails on GET. */
export interface FailingPath {
  /** Relative to the mount point. */
  readonly path: string
  /** A part of the message of the thrown error. No client may see it. */
  readonly secret: string
}

/** A path of the API for which a port waits on GET until its `signal` is aborted. */
export interface WaitingPath {
  /** Relative to the mount point. */
  readonly path: string
  /** Fulfils when the port is called. */
  asked(): Promise<unknown>
  /** Fulfils when the signal of the port is aborted. */
  aborted(): Promise<unknown>
}

/**
 * What the contract may know about an application. Each part is optional. If a part is missing, the cases that need it
 * are left out. The cases change nothing permanently: a case that blocks a user also unblocks that user.
 */
export interface KnownHost {
  /** The mounted services. Default: all. */
  readonly services?: readonly ServiceName[] | undefined
  /** The `Authorization` header of a user who may do everything, such as a site administrator. */
  readonly authorization?: string | undefined
  /** The name of an organization. */
  readonly organization?: string | undefined
  /**
   * The names of two users who are not members of the organization, are not blocked there, and are not the user of
   * `authorization`.
   */
  readonly users?: readonly [string, string] | undefined
  /** A repository that everyone may read. */
  readonly repository?: `${string}/${string}` | undefined
  /** The value that was passed to `createApi`. Without it, links must be relative. */
  readonly publicUrl?: string | undefined
  /** The value that was passed to `createApi`. Default: 1,048,576. */
  readonly maxBodyBytes?: number | undefined
  /** The value that was passed to `createApi`. Set it low there: cases send longer imports. */
  readonly maxImportBytes?: number | undefined
  /**
   * The value that was passed to the adapter. With 'allow', the cases about cross-site requests are left out. Default:
   * 'refuse'.
   */
  readonly crossSite?: 'refuse' | 'allow' | undefined
  /**
   * The headers that the application itself adds to every response, cookies in particular. A list stands for a header
   * with several lines.
   */
  readonly headers?: { readonly [name: string]: string | readonly string[] } | undefined
  /** Paths that the application itself serves, in particular paths below the mount point. */
  readonly elsewhere?: readonly HostPath[] | undefined
  readonly failing?: FailingPath | undefined
  readonly waiting?: WaitingPath | undefined
}

const TEXT: OptionRule = optional((value) => typeof value === 'string', 'a text')
const NUMBER: OptionRule = optional((value) => typeof value === 'number', 'a number')
const PATH: OptionRule = [(value) => typeof value === 'string' && value.startsWith('/'), 'a path that begins with /']

const KNOWN: OptionRules<KnownHost> = {
  services: optional(Array.isArray, 'a list of services'),
  authorization: TEXT,
  organization: TEXT,
  users: optional(
    (value) => Array.isArray(value) && value.length >= 2 && value.every(isName),
    'the names of two users',
  ),
  repository: optional((value) => typeof value === 'string' && /^[^/]+\/[^/]+$/.test(value), "'owner/name'"),
  publicUrl: TEXT,
  maxBodyBytes: NUMBER,
  maxImportBytes: NUMBER,
  crossSite: oneOf('refuse', 'allow'),
  headers: optional(isObject, "an object such as { 'X-Host': 'here' }"),
  elsewhere: optional(Array.isArray, 'a list of { path, text }'),
  failing: optional(isObject, '{ path, secret }'),
  waiting: optional(isObject, '{ path, asked, aborted }'),
}

const FAILING: OptionRules<FailingPath> = { path: PATH, secret: [isName, 'a part of the message of the thrown error'] }
const WAITING: OptionRules<WaitingPath> = {
  path: PATH,
  asked: [isFunction, 'a function that fulfils when the port is called'],
  aborted: [isFunction, 'a function that fulfils when the signal of the port is aborted'],
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function'
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

/** Checks what a host says about itself. @throws TypeError with the name of a part that does not exist or is not valid */
export function checkKnownHost(known: KnownHost): void {
  checkOptions('mountContract', known, KNOWN)
  if (known.failing !== undefined) checkOptions('mountContract', known.failing, FAILING, 'failing.')
  if (known.waiting !== undefined) checkOptions('mountContract', known.waiting, WAITING, 'waiting.')
}
