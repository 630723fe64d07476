import type { Actor } from '../../../core/ports.ts'
import { invalidInput, notFound } from '../../../schema/errors.ts'
import { toId } from '../../../schema/ids.ts'
import type { IssueRef } from '../../../schema/records.ts'
import type { SyncOrAsync } from '../../../schema/sync-or-async.ts'
import { runMaybeAsync, wait } from '../../../schema/sync-or-async.ts'
import { parseInteger } from '../integer-text.ts'
import type { RepositoryAction } from '../path-inputs.ts'
import { enterRepository, repositoryParameters } from '../path-inputs.ts'
import { isNil } from '../ports.ts'
import type { RequestContext } from '../request-context.ts'
import type { Input } from '../route.ts'

/**
 * The issue or pull request in the path. The input fails unless the policy allows the caller this action in its
 * repository.
 */
export function issueFor(action: RepositoryAction): Input<IssueRef> {
  return {
    parameters: [
      ...repositoryParameters,
      {
        name: 'index',
        in: 'path',
        schema: { type: 'integer', format: 'int64', minimum: 1 },
        description: 'index of the issue or pull request',
      },
    ],
    action,
    errors: ['REPOSITORY_NOT_FOUND', 'FORBIDDEN', 'ISSUE_NOT_FOUND'],
    read: (exchange) => runMaybeAsync(findIssue(exchange, action)),
  }
}

function* findIssue<A extends Actor>(exchange: RequestContext<A>, action: RepositoryAction): SyncOrAsync<IssueRef> {
  const repositoryId = yield* enterRepository(exchange, action)
  const index = parseInteger(exchange.parameter('index'))
  if (index === undefined || index < 1 || !Number.isSafeInteger(index)) throw notFound('issue')

  const { directory } = exchange.settings
  const issue = yield* wait(directory.findIssue(repositoryId, index, exchange.context))
  if (isNil(issue)) throw notFound('issue')
  if (toId(issue.repositoryId, 'issue.repositoryId') === repositoryId) return issue
  throw new TypeError('findIssue gave an issue of another repository than it was asked about')
}

/** The 1-based position in the path. Source: docs/behaviour.md, Pins */
export const positionInPath: Input<number> = {
  parameters: [
    {
      name: 'position',
      in: 'path',
      schema: { type: 'integer', format: 'int64', minimum: 1 },
      description: 'place on the board, from 1 up',
    },
  ],
  errors: ['INVALID_INPUT'],
  read: (exchange) => toPosition(exchange.parameter('position')),
}

function toPosition(text: string): number {
  const position = parseInteger(text)
  if (position === undefined || position < 1 || position === Number.POSITIVE_INFINITY) {
    throw invalidInput('/position', 'range', 'position must be an integer from 1 up')
  }

  return position
}
