import type { Actor, Caller, PortContext } from '../../core/ports.ts'
import type { ServiceName } from '../../core/services.ts'
import { hasMethods, need } from '../../schema/arguments.ts'
import type { Id, IdInput } from '../../schema/ids.ts'
import type { ExchangeRecord, IssueRecord, NotCarried } from '../../schema/issue-record.ts'
import type { AccountRef, IssueRef } from '../../schema/records.ts'
import type { MaybePromise } from '../../schema/sync-or-async.ts'

/** What else a request will ask for in a repository: a directory may read it together with the repository. */
export interface WantedOfRepository {
  /** The number of an issue or pull request. */
  readonly index: number
}

/**
 * Port: resolves the names in a path to references. The directory also finds private repositories; the policy conceals
 * them. Compare names as your login does: where it ignores case, prefer the name that is equal. Called once for each name in
 * a path, in the order of the path, and outside of any transaction: `findAccount` for `{org}` and `{username}`,
 * `findRepository` for `{owner}` and `{repo}`, `findIssue` for `{index}`.
 */
export interface Directory<A extends Actor, Tx = unknown> {
  /**
   * The user or organization with that name, or `undefined` if it does not exist.
   *
   * @param wanted - the kind that the request needs, where a user and an organization may have one name. Undefined: either,
   * a user before an organization
   */
  findAccount(
    name: string,
    context: PortContext<Caller<A>, Tx>,
    wanted?: AccountRef['kind'],
  ): MaybePromise<AccountRef | undefined>
  /**
   * The repository with that owner and name, or `undefined` if it does not exist. The other ports of the request receive the
   * returned object as `context.repository`.
   */
  findRepository(
    owner: string,
    name: string,
    context: PortContext<Caller<A>, Tx>,
    wanted?: WantedOfRepository,
  ): MaybePromise<{ readonly id: IdInput } | undefined>
  /**
   * The issue or pull request with that number, or `undefined` if it does not exist. `index` is an integer from 1 to
   * 2147483647.
   */
  findIssue(repositoryId: Id, index: number, context: PortContext<Caller<A>, Tx>): MaybePromise<IssueRef | undefined>
}

/**
 * Port: turns ids into the JSON objects that responses contain. Users are presented as any signed-in user sees them,
 * issues and pull requests as `context.actor` sees them. An object with a `toJSON` method is presented as
 * `JSON.stringify` writes it. The route overwrites `pin_order`. The result has the length and the order of `ids`; an
 * item that no longer exists is `undefined`, and the response leaves it out. Called once for each response with a list,
 * after the storage was read, outside of any transaction, and not at all if the list is empty.
 */
export interface Presenter<A extends Actor, Tx = unknown> {
  /** The users' JSON objects, in the order of `ids`. */
  users(ids: readonly Id[], context: PortContext<Caller<A>, Tx>): MaybePromise<readonly (object | undefined)[]>
  /** The issues' JSON objects, in the order of `ids`. */
  issues(ids: readonly Id[], context: PortContext<Caller<A>, Tx>): MaybePromise<readonly (object | undefined)[]>
  /** The pull requests' JSON objects, in the order of `ids`. Not needed by a host without pull requests. */
  pullRequests?(ids: readonly Id[], context: PortContext<Caller<A>, Tx>): MaybePromise<readonly (object | undefined)[]>
}

/** Port: reads and writes issue documents: `issueDocuments` of `forgelet/exchange`. */
export interface IssueDocuments {
  /**
   * Reads the records of a body: bytes, or the list that a body parser made of them.
   * @throws ForgeError `INVALID_DOCUMENT` while it is iterated
   */
  read(
    body: AsyncIterable<Uint8Array> | readonly unknown[],
    options: IssueDocumentOptions,
  ): AsyncIterable<ExchangeRecord>
  /** Writes the canonical document. */
  write(issues: AsyncIterable<IssueRecord>): AsyncIterable<Uint8Array>
}

/** How a body is read. */
export interface IssueDocumentOptions {
  /** The media type of the body. */
  readonly contentType: string | undefined
  readonly limits: { /** The maximum size of a record in bytes. */ readonly maxRecordBytes: number }
  /** Called with the length of each piece, after decompression. What it throws ends the reading. */
  readonly onBytes: (bytes: number) => void
  /** Called once, at the end. */
  readonly onNotCarried: (what: readonly NotCarried[]) => void
}

/**
 * Whether a port returned no value: `undefined`, or the `null` that hosts in JavaScript return, as their database
 * mappers do.
 */
export function isNil(given: unknown): given is undefined | null {
  return given === undefined || given === null
}

/** The methods of the ports that the routes of each service call. A host of the service must have them. */
const NEEDS = {
  'signing-keys': { directory: ['findRepository'], present: [] },
  pins: { directory: ['findRepository', 'findIssue'], present: ['issues'] },
  blocks: { directory: ['findAccount'], present: ['users'] },
  badges: { directory: ['findAccount'], present: [] },
  exchange: { directory: ['findRepository'], present: [] },
} as const

/** The names of methods, by port. */
interface PortMethods {
  readonly directory: readonly (keyof Directory<Actor>)[]
  readonly present: readonly (keyof Presenter<Actor>)[]
}

/** The ports of an API. */
interface AllPorts<A extends Actor> {
  /** Resolves the names in paths to references. */
  readonly directory: Directory<A, never>
  /** Turns ids into the JSON objects of responses. */
  readonly present: Presenter<A, never>
}

/** The methods of a port that services call. */
type Needed<S extends ServiceName, P extends keyof PortMethods> = (typeof NEEDS)[S & keyof typeof NEEDS][P][number]

/** A port under its name, if services call methods of it: these are there, and its others may be. */
type Port<P extends keyof AllPorts<Actor>, T, K extends keyof T> = [K] extends [never]
  ? { readonly [Name in P]?: Partial<T> }
  : { readonly [Name in P]: Partial<T> & Pick<T, K> }

/**
 * The ports of an API, with the methods that its services call: `createApi` checks them too, for hosts in JavaScript.
 * Source: docs/manual/05-mount-it.md
 */
export type ApiPorts<A extends Actor, S extends ServiceName = ServiceName> = ServiceName extends S
  ? AllPorts<A>
  : Port<'directory', Directory<A, never>, Needed<S, 'directory'>> &
      Port<'present', Presenter<A, never>, Needed<S, 'present'>>

/** The ports as a host in JavaScript may give them. */
export interface UncheckedPorts {
  readonly directory?: unknown
  readonly present?: unknown
}

/**
 * Checks that the ports have the methods that the services call.
 *
 * @returns the ports, as if they had every method: the routes of the other services are not mounted
 * @throws TypeError naming the missing method and the service that needs it
 */
export function checkPorts(ports: UncheckedPorts, services: readonly ServiceName[]): AllPorts<Actor> {
  const needs: Readonly<Record<ServiceName, PortMethods>> = NEEDS
  for (const service of services) {
    for (const port of ['directory', 'present'] as const) {
      for (const method of needs[service][port]) {
        const isThere = hasMethods(ports[port], method)
        need(isThere, 'createApi', `${port}.${method}`, `a function, for the service ${service}`)
      }
    }
  }
  // biome-ignore lint/nursery/noUnsafeTypeAssertion: what a mounted route calls was checked above
  return ports as AllPorts<Actor>
}
