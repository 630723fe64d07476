import type { Actor, Asker, PortContext } from '../../core/ports.ts'
import type { Id, IdInput } from '../../schema/ids.ts'
import type { AccountRef, IssueRef } from '../../schema/records.ts'
import type { MaybePromise } from '../../schema/steps.ts'

/** Port: names to references, for paths. Concealment is the policy's: a private repository is found here and concealed there. Names are case-insensitive. */
export interface Directory<A extends Actor, Tx = unknown> {
  findAccount(name: string, context: PortContext<Asker<A>, Tx>): MaybePromise<AccountRef | undefined>
  findRepository(
    owner: string,
    name: string,
    context: PortContext<Asker<A>, Tx>,
  ): MaybePromise<{ readonly id: IdInput } | undefined>
  /** `index` is a safe integer from 1 up. */
  findIssue(repositoryId: Id, index: number, context: PortContext<Asker<A>, Tx>): MaybePromise<IssueRef | undefined>
}

/**
 * Port: ids to the JSON objects the wire shows; users as any signed-in user sees them, issues as `context.actor` does.
 * `pin_order` is written over by the route. Same order and length as asked; undefined = it is gone, and is left out.
 * One call per page.
 */
export interface Presenter<A extends Actor, Tx = unknown> {
  users(ids: readonly Id[], context: PortContext<Asker<A>, Tx>): MaybePromise<readonly (object | undefined)[]>
  issues(ids: readonly Id[], context: PortContext<Asker<A>, Tx>): MaybePromise<readonly (object | undefined)[]>
  pullRequests(ids: readonly Id[], context: PortContext<Asker<A>, Tx>): MaybePromise<readonly (object | undefined)[]>
}
