import type { Actor, Logger } from '../../core/ports.ts'
import { isObject, need } from '../../schema/arguments.ts'
import { toLogger } from '../../schema/observer.ts'
import type { Directory, Presenter } from './ports.ts'
import type { ObservedRequest } from './request-observer.ts'

/** A group of routes that can be mounted alone. */
export type ServiceName = 'pins' | 'blocks' | 'badges' | 'signing-keys'

/** What callers prove who they are with: a token in a header, or a session that they have signed in to (a cookie). */
export type CredentialKind = 'token' | 'session'

/** Bounds of the API. */
export interface ApiLimits {
  /** Items on a page when the request does not say. Default 30, or `maxPageSize` when that is smaller. */
  readonly defaultPageSize?: number | undefined
  /** Most items on a page, 1 to 1,000. Default 50. */
  readonly maxPageSize?: number | undefined
  /** Most bytes of a body. Default 1,048,576 (1 MiB). */
  readonly maxBodyBytes?: number | undefined
}

/** What an API is made of, besides the forge. */
export interface ApiOptions<A extends Actor> {
  readonly directory: Directory<A>
  readonly present: Presenter<A>
  /** Takes unexpected failures, and a database that is away. Default: the forge's logger. False: nowhere. Source: docs/observability.md */
  readonly logger?: Logger | false | undefined
  /** Makes the `requestId` of a failure. Default: a random UUID. */
  readonly newId?: (() => string) | undefined
  /**
   * Is called once for each request that is answered, when its reply is made; what it throws changes nothing, and is warned
   * of the first time. Default: no clock is read. Source: docs/observability.md
   */
  readonly observe?: ((request: ObservedRequest) => void) | undefined
  /** Where clients see the mount point, for example `https://git.example.com/api/v1`; without it links are relative. */
  readonly publicUrl?: string | undefined
  /** Where people read about the API; every error body names it as `url`. Default: `""`, as for unknown. */
  readonly docsUrl?: string | undefined
  /**
   * What a 401 asks for: 'token' says "token is required", as Gitea does; 'session' says "authentication is required", for
   * hosts whose callers have no tokens. Default 'token'. Source: docs/behaviour.md, Over HTTP
   */
  readonly credentials?: CredentialKind | undefined
  /** Only these are mounted; the paths of the others are not ours. Default: all. */
  readonly services?: readonly ServiceName[] | undefined
  readonly limits?: ApiLimits | undefined
}

/** The options of an API, checked, with every default filled in. */
export interface Settings<A extends Actor> {
  readonly directory: Directory<A>
  readonly present: Presenter<A>
  readonly logger: Logger
  readonly newId: (() => string) | undefined
  readonly observe: ((request: ObservedRequest) => void) | undefined
  /** Without a slash at its end. */
  readonly publicUrl: string | undefined
  /** `""` when unknown. */
  readonly docsUrl: string
  readonly credentials: CredentialKind
  readonly services: ReadonlySet<ServiceName>
  readonly limits: { readonly [K in keyof ApiLimits]-?: number }
}

const SERVICES: readonly ServiceName[] = ['pins', 'blocks', 'badges', 'signing-keys']
const MAX_PAGE_SIZE = 1000

/**
 * Checks the options of an API and fills in the defaults.
 *
 * @param forgeLogger - the logger of an API that has none of its own
 * @throws TypeError when an option is missing or out of its range
 */
export function toSettings<A extends Actor>(options: ApiOptions<A>, forgeLogger: Logger): Settings<A> {
  need(isObject(options), 'createApi', 'options', 'an object with directory and present')
  const { directory, present, logger, newId, observe, publicUrl } = options
  const { docsUrl = '', credentials = 'token', services = SERVICES, limits = {} } = options
  const isDirectory = hasFunctions(directory, ['findAccount', 'findRepository', 'findIssue'])
  need(isDirectory, 'createApi', 'directory', 'an object with findAccount, findRepository and findIssue')
  const isPresenter = hasFunctions(present, ['users', 'issues', 'pullRequests'])
  need(isPresenter, 'createApi', 'present', 'an object with users, issues and pullRequests')
  if (newId !== undefined && typeof newId !== 'function') throw new TypeError('newId must be a function')
  if (observe !== undefined && typeof observe !== 'function') throw new TypeError('observe must be a function')

  if (credentials !== 'token' && credentials !== 'session') {
    throw new TypeError("credentials must be 'token' or 'session'")
  }

  return {
    directory,
    present,
    logger: logger === undefined ? forgeLogger : toLogger('createApi', logger),
    newId,
    observe,
    publicUrl: publicUrl === undefined ? undefined : toPublicUrl(publicUrl),
    docsUrl: docsUrl === '' ? '' : toDocsUrl(docsUrl),
    credentials,
    services: toServices(services),
    limits: toLimits(limits),
  }
}

function hasFunctions(part: unknown, names: readonly string[]): boolean {
  return isObject(part) && names.every((name) => typeof Reflect.get(part, name) === 'function')
}

function toPublicUrl(text: string): string {
  const url = parseUrl(text)
  // An address that is no more than its origin and path has no query, fragment or credentials.
  const isPlain = url !== undefined && url.origin + url.pathname === url.href
  if (isPlain && /^https?:$/.test(url.protocol)) return url.href.replace(/\/+$/, '')

  throw new TypeError('publicUrl must be an absolute http or https address without query, fragment or credentials')
}

/** A fragment may name a section of the page; credentials would be told to everybody. */
function toDocsUrl(text: string): string {
  const url = parseUrl(text)
  const isOpen = url?.href.startsWith(`${url.origin}/`) === true // credentials would stand in between
  if (url !== undefined && isOpen && /^https?:$/.test(url.protocol)) return url.href

  throw new TypeError('docsUrl must be an absolute http or https address without credentials')
}

function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}

function toServices(names: readonly ServiceName[]): ReadonlySet<ServiceName> {
  const unknown = names.find((name) => !SERVICES.includes(name))
  if (unknown === undefined) return new Set(names)

  throw new TypeError(`services must be some of ${SERVICES.join(', ')}; ${JSON.stringify(unknown)} is none`)
}

function toLimits(limits: ApiLimits): Settings<Actor>['limits'] {
  const maxPageSize = integer(limits.maxPageSize ?? 50, 'limits.maxPageSize', MAX_PAGE_SIZE)
  const defaultPageSize = limits.defaultPageSize ?? Math.min(30, maxPageSize)
  return {
    maxPageSize,
    defaultPageSize: integer(defaultPageSize, 'limits.defaultPageSize', maxPageSize),
    maxBodyBytes: integer(limits.maxBodyBytes ?? 1_048_576, 'limits.maxBodyBytes', Number.MAX_SAFE_INTEGER),
  }
}

function integer(value: number, name: string, most: number): number {
  if (Number.isSafeInteger(value) && value >= 1 && value <= most) return value
  throw new TypeError(`${name} must be an integer from 1 to ${most}`)
}
