import type { Actor, Logger } from '../../core/ports.ts'
import { isObject, need } from '../../schema/arguments.ts'
import { toLogger } from '../../schema/observer.ts'
import type { Directory, Presenter } from './ports.ts'
import type { ObservedRequest } from './request-observer.ts'

/** A group of routes that can be mounted on its own. */
export type ServiceName = 'pins' | 'blocks' | 'badges' | 'signing-keys'

/** How callers authenticate: with a token in a header, or with a session that they have signed in to (a cookie). */
export type CredentialKind = 'token' | 'session'

/** Limits of the API. */
export interface ApiLimits {
  /**
   * The number of items on a page if the request does not set one. Default: 30, or `maxPageSize` if that is smaller.
   */
  readonly defaultPageSize?: number | undefined
  /** The maximum number of items on a page, from 1 to 1,000. Default: 50. */
  readonly maxPageSize?: number | undefined
  /** The maximum size of a request body in bytes. Default: 1,048,576 (1 MiB). */
  readonly maxBodyBytes?: number | undefined
}

/** Options of an API, besides the forge. */
export interface ApiOptions<A extends Actor> {
  readonly directory: Directory<A>
  readonly present: Presenter<A>
  /**
   * The logger for unexpected errors and for a busy or unavailable database. Default: the forge's logger. `false`
   * disables logging. Source: docs/observability.md
   */
  readonly logger?: Logger | false | undefined
  /** Creates the `requestId` of a failed request. Default: a random UUID. */
  readonly newId?: (() => string) | undefined
  /**
   * Called once for each answered request, after the response has been built. An error that it throws does not affect
   * the request; the first such error is logged as a warning. By default there is no observer, and no clock is read.
   * Source: docs/observability.md
   */
  readonly observe?: ((request: ObservedRequest) => void) | undefined
  /**
   * The address of the mount point as clients see it, for example `https://git.example.com/api/v1`. Without it, links
   * are relative.
   */
  readonly publicUrl?: string | undefined
  /**
   * The address of the API's documentation. Every error body contains it as `url`. Default: `""`, which means unknown.
   */
  readonly docsUrl?: string | undefined
  /**
   * What a 401 response asks for. `'token'` says "token is required", as Gitea does. `'session'` says "authentication
   * is required", for hosts whose callers have no tokens. Default: `'token'`. Source: docs/behaviour.md, Over HTTP
   */
  readonly credentials?: CredentialKind | undefined
  /** The services to mount. The API does not have the paths of the others. Default: all. */
  readonly services?: readonly ServiceName[] | undefined
  readonly limits?: ApiLimits | undefined
}

/** The checked options of an API, with every default filled in. */
export interface Settings<A extends Actor> {
  readonly directory: Directory<A>
  readonly present: Presenter<A>
  readonly logger: Logger
  readonly newId: (() => string) | undefined
  readonly observe: ((request: ObservedRequest) => void) | undefined
  /** Has no trailing slash. */
  readonly publicUrl: string | undefined
  /** `""` if unknown. */
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
 * @param forgeLogger - the logger to use if `options` has none
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
  // A URL that equals its origin plus its path has no query, fragment or credentials.
  const isPlain = url !== undefined && url.origin + url.pathname === url.href
  if (isPlain && /^https?:$/.test(url.protocol)) return url.href.replace(/\/+$/, '')

  throw new TypeError('publicUrl must be an absolute http or https address without query, fragment or credentials')
}

/** Allows a fragment, which may name a section of the page. Refuses credentials, which every client would see. */
function toDocsUrl(text: string): string {
  const url = parseUrl(text)
  const isOpen = url?.href.startsWith(`${url.origin}/`) === true // credentials would precede the host
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
