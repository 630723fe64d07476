import type { Id } from '../../schema/ids.ts'
import type { Page } from '../../schema/paging.ts'
import type { Block } from '../../schema/records.ts'
import type { MaybePromise } from '../../schema/steps.ts'
import type { AggregateStore } from './aggregate-store.ts'
import type { PageQuery } from './page-query.ts'

/** Names one block: an organization and a user. */
export interface BlockKey {
  readonly organizationId: Id
  readonly userId: Id
}

/**
 * The blocks. `epoch` and the lock are the organization's. An `update` is refused with `ORGANIZATION_NOT_FOUND` on a
 * retired organization and with `USER_NOT_FOUND` on a retired user.
 */
export interface BlockStore<Tx> extends AggregateStore<BlockKey, Block | undefined, Tx> {
  /** One block, undefined when there is none. */
  find(key: BlockKey, transaction?: Tx): MaybePromise<Block | undefined>
  /** Those of the users whom the organization blocks. */
  among(organizationId: Id, userIds: readonly Id[], transaction?: Tx): MaybePromise<ReadonlySet<Id>>
  /**
   * In order of blocking, oldest first; page and total from one snapshot. First and last page cost the same.
   * @throws ForgeError `ORGANIZATION_NOT_FOUND` when it is retired; `INVALID_INPUT` for a cursor that is none
   */
  page(organizationId: Id, query: PageQuery, transaction?: Tx): MaybePromise<Page<Block>>
}
