import type { ActionFacts } from '../access.ts'
import type { Id } from '../ids.ts'

/** The events of imports. */
export interface ExchangeEvents {
  /**
   * One for each batch of `exchange.import` that changed something. Counts of issues, and of comments that were created or
   * replaced. Subject: repository.
   */
  'issues.imported': { readonly created: number; readonly updated: number; readonly comments: number }
  /**
   * One for each batch of `exchange.reattribute` that changed something. Counts of what got an account. Subject: repository.
   */
  'issues.reattributed': {
    readonly issues: number
    readonly assignees: number
    readonly comments: number
    readonly reactions: number
  }
}

/** What the methods of the exchange ask the policy for. */
export interface ExchangeAccess {
  readonly action: 'issues.export' | 'issues.import' | 'issues.attribute'
  readonly repositoryId: Id
}

export const exchangeActions: ActionFacts<ExchangeAccess> = {
  'issues.export': { concerns: 'repository', allows: 'repository reader' },
  'issues.import': { concerns: 'repository', allows: 'repository admin' },
  // An import must not put words into other people's mouths.
  'issues.attribute': { concerns: 'repository', allows: 'site admin' },
}
