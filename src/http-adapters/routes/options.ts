import type { ForgeInternals } from '../../core/forge.ts'
import type { Actor } from '../../core/ports.ts'
import type { ServiceName } from '../../core/services.ts'
import { hasMethods, isObject, need, toInteger } from '../../schema/arguments.ts'
import type { OptionRules } from '../../schema/options.ts'
import { ANY, checkOptions, optional, refuseUnknown, toServiceNames } from '../../schema/options.ts'
import type { IssueDocuments } from './ports.ts'
import type { ApiPorts, UncheckedPorts } from './route-table.ts'
import { checkPorts } from './route-table.ts'
import type { ApiLimits, CredentialKind, FilledApiLimits, Settings } from './settings.ts'

/** Options of an API that do not depend on its services. */
export interface ApiSettings {
  /**
   * The address of the mount point as clients see it, for example `https://git.example.com/api/v1`. Without it, links
   * are relative.
   */
  readonly publicUrl?: string | undefined
  /**
   * The address of the API's documentation. Every error body contains it as `url`. If it ends in `#`, the code of the
   * error follows in lower case, as the headings of the page "Errors" are named. Default: `""`, which means unknown.
   */
  readonly docsUrl?: string | undefined
  /**
   * What a 401 response asks for. `'token'` says "token is required", as Gitea does, and `WWW-Authenticate: Bearer`.
   * `'session'` says "authentication is required" and names no scheme, for hosts whose callers have no tokens. Default: `'token'`. Source: docs/behaviour.md, Over HTTP
   */
  readonly credentials?: CredentialKind | undefined
  /**
   * Reads and writes issue documents: `issueDocuments` of `forgelet/exchange`. Without it, the API does not have the
   * routes that import and export issues.
   */
  readonly documents?: IssueDocuments | undefined
  /** The limits of pages, bodies, exports and imports. */
  readonly limits?: ApiLimits | undefined
  /**
   * Whether the API has Forgejo's paths for blocks and the SSH key too, such as `/orgs/{org}/list_blocked` and
   * `/signing-key.ssh`. Default: false. Source: docs/behaviour.md, Forgejo
   */
  readonly forgejoPaths?: boolean | undefined
}

/** Options of an API, besides the forge. Only the methods that the services `S` call are required of the ports. */
export type ApiOptions<A extends Actor, S extends ServiceName = ServiceName> = ApiSettings &
  ApiPorts<A, S> & {
    /** The services to mount. The API does not have the paths of the others. Default: those of the forge. */
    readonly services?: readonly S[] | undefined
  }

/** Options before it is checked that they have what the services need. */
export interface UncheckedOptions extends ApiSettings, UncheckedPorts {
  readonly services?: readonly ServiceName[] | undefined
}

const OPTIONS: OptionRules<UncheckedOptions> = {
  directory: ANY,
  present: ANY,
  services: ANY,
  publicUrl: ANY,
  docsUrl: ANY,
  credentials: optional((value) => value === 'token' || value === 'session', "'token' or 'session'"),
  documents: optional((value) => hasMethods(value, 'read', 'write'), 'issueDocuments of forgelet/exchange'),
  forgejoPaths: optional((value) => typeof value === 'boolean', 'true or false'),
  limits: optional(isObject, 'an object such as { maxPageSize: 100 }'),
}

/**
 * Checks the options of an API and fills in the others.
 *
 * @throws TypeError when an option is missing or out of its range
 */
export function toSettings(options: UncheckedOptions, forge: ForgeInternals): Settings {
  checkOptions('createApi', options, OPTIONS)
  const { publicUrl, docsUrl = '', credentials = 'token', limits = {}, documents, forgejoPaths = false } = options
  const services = withDocuments(toServiceNames(options.services, forge.services), options, forge)
  return {
    ...checkPorts(options, services),
    logger: forge.logger,
    newId: forge.newId,
    observe: forge.observe,
    publicUrl: publicUrl === undefined ? undefined : toPublicUrl(publicUrl),
    docsUrl: docsUrl === '' ? '' : toDocsUrl(docsUrl),
    credentials,
    services: new Set(services),
    documents,
    limits: toApiLimits(limits),
    forgejoPaths,
  }
}

/** Leaves out the exchange if there are no documents. */
function withDocuments(
  services: readonly ServiceName[],
  { documents, services: named = [] }: UncheckedOptions,
  { hasIssues }: ForgeInternals,
): readonly ServiceName[] {
  if (!services.includes('exchange')) return services

  const has = documents !== undefined
  const isNamed = named.includes('exchange')
  need(has || !isNamed, 'createApi', 'documents', 'issueDocuments of forgelet/exchange, for the service exchange')
  need(!has || hasIssues, 'createApi', 'issues', 'an option of createForge, for documents')
  return has ? services : services.filter((name) => name !== 'exchange')
}

function toPublicUrl(text: string): string {
  const url = parseUrl(text)
  // A URL that equals its origin plus its path has no query, fragment or credentials.
  if (url !== undefined && url.origin + url.pathname === url.href) return url.href.replace(/\/+$/, '')
  throw new TypeError('publicUrl must be an absolute http or https address without query, fragment or credentials')
}

/** Allows a fragment, which may name a section of the page. Refuses credentials, which every client would see. */
function toDocsUrl(text: string): string {
  const url = parseUrl(text)
  if (url?.href.startsWith(`${url.origin}/`) === true) return url.href // credentials would precede the host
  throw new TypeError('docsUrl must be an absolute http or https address without credentials')
}

function parseUrl(text: string): URL | undefined {
  return /^https?:/i.test(text) && URL.canParse(text) ? new URL(text) : undefined
}

const MAX_PAGE_SIZE = 1000
/** A larger text may not fit into a string. */
const MAX_RECORD_BYTES = 268_435_456
const DEFAULTS: FilledApiLimits = {
  defaultPageSize: 30,
  maxPageSize: 50,
  maxBodyBytes: 1_048_576,
  maxImportBytes: 67_108_864,
  maxRecordBytes: 2_097_152,
  maxExports: 8,
  maxImports: 4,
}

/**
 * Checks limits and fills in the others.
 *
 * @throws TypeError when a limit is out of its range
 */
function toApiLimits(limits: ApiLimits): FilledApiLimits {
  refuseUnknown('createApi', limits, DEFAULTS, 'limits.')
  const limit = (name: keyof ApiLimits, most = Number.MAX_SAFE_INTEGER): number =>
    toInteger(limits[name] ?? Math.min(DEFAULTS[name], most), `limits.${name}`, 1, most)
  const maxPageSize = limit('maxPageSize', MAX_PAGE_SIZE)
  return {
    maxPageSize,
    defaultPageSize: limit('defaultPageSize', maxPageSize),
    maxBodyBytes: limit('maxBodyBytes'),
    maxImportBytes: limit('maxImportBytes'),
    maxRecordBytes: limit('maxRecordBytes', MAX_RECORD_BYTES),
    maxExports: limit('maxExports'),
    maxImports: limit('maxImports'),
  }
}
