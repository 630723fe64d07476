import type { Id } from '../../schema/ids.ts'
import type { Page } from '../../schema/paging.ts'
import type { Badge } from '../../schema/records.ts'
import type { MaybePromise } from '../../schema/steps.ts'
import type { AggregateStore } from './aggregate-store.ts'
import type { PageQuery } from './page-query.ts'

/** Names the entry of the catalogue that a change is about; compared exactly. */
export interface BadgeCatalogueKey {
  readonly slug: string
}

/** One entry of the catalogue, as a change sees it. */
export interface BadgeCatalogueState {
  /** The definition; undefined when there is none. A change sets, replaces or removes it. */
  readonly badge: Badge | undefined
  /** How many users hold it. */
  readonly holders: number
  /** The id of the next definition: a decimal integer, never given out twice. */
  readonly nextId: Id
}

/** The badge catalogue: one aggregate, one lock, its `epoch` never moves. */
export interface BadgeCatalogueStore<Tx> extends AggregateStore<BadgeCatalogueKey, BadgeCatalogueState, Tx> {
  /** One definition, undefined when there is none. */
  find(slug: string, transaction?: Tx): MaybePromise<Badge | undefined>
  /** Oldest definition first. @throws ForgeError `INVALID_INPUT` for a cursor that is none */
  page(query: PageQuery, transaction?: Tx): MaybePromise<Page<Badge>>
}
