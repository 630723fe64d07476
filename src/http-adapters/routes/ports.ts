import type { Actor, Caller, PortContext } from '../../core/ports.ts'
import type { Id, IdInput } from '../../schema/ids.ts'
import type { AccountRef, IssueRef } from '../../schema/records.ts'
import type { MaybePromise } from '../../schema/sync-or-async.ts'

/** Port: names to references, for paths. Concealment is the policy's: a private repository is found here and concealed there. Names are case-insensitive. */
export interface Directory<A extends Actor, Tx = unknown> {
  /** The user or organization of that name, undefined when there is none. */
  findAccount(name: string, context: PortContext<Caller<A>, Tx>): MaybePromise<AccountRef | undefined>
  /** The repository of that owner and name, undefined when there is none. */
  findRepository(
    owner: string,
    name: string,
    context: PortContext<Caller<A>, Tx>,
  ): MaybePromise<{ readonly id: IdInput } | undefined>
  /** The issue or pull request of that number, undefined when there is none; `index` is a safe integer from 1 up. */
  findIssue(repositoryId: Id, index: number, context: PortContext<Caller<A>, Tx>): MaybePromise<IssueRef | undefined>
}

/**
 * Port: ids to the JSON objects the wire shows; users as any signed-in user sees them, issues as `context.actor` does.
 * An object with a `toJSON` is shown as `JSON.stringify` shows it. `pin_order` is written over by the route. Same order and length as asked; undefined = it is gone, and is left out.
 * One call per page.
 */
export interface Presenter<A extends Actor, Tx = unknown> {
  /** The users as the wire shows them, in the order asked. */
  users(ids: readonly Id[], context: PortContext<Caller<A>, Tx>): MaybePromise<readonly (object | undefined)[]>
  /** The issues as the wire shows them, in the order asked. */
  issues(ids: readonly Id[], context: PortContext<Caller<A>, Tx>): MaybePromise<readonly (object | undefined)[]>
  /** The pull requests as the wire shows them, in the order asked. */
  pullRequests(ids: readonly Id[], context: PortContext<Caller<A>, Tx>): MaybePromise<readonly (object | undefined)[]>
}

/** Whether a port gave nothing: undefined, or the null that hosts in JavaScript give, as their mappers of databases do. */
export function isNil(given: unknown): given is undefined | null {
  return given === undefined || given === null
}
