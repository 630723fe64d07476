import type { Actor, Caller, PortContext } from '../../core/ports.ts'
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
