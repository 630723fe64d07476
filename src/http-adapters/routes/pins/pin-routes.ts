import { issueFor, repositoryFor } from '../path-inputs.ts'
import { noContent } from '../reply.ts'
import type { Route, ServiceRoutes } from '../route.ts'
import { route } from '../route.ts'
import { positionInPath } from './pin-inputs.ts'
import { issueSchema, pinnedList, pinsAllowed, pinsAllowedSchema, pullRequestSchema } from './pin-replies.ts'

const routes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/repos/{owner}/{repo}/issues/{index}/pin',
    operationId: 'pinIssue',
    service: 'pins',
    summary: 'Pin an issue or pull request',
    inputs: { issue: issueFor('pins.write') },
    call: ({ operations, actor, context }, { issue }) => operations.pins.pin(actor, issue, context),
    reply: noContent,
    errors: ['PIN_LIMIT_REACHED'],
  }),
  route({
    method: 'DELETE',
    path: '/repos/{owner}/{repo}/issues/{index}/pin',
    operationId: 'unpinIssue',
    service: 'pins',
    summary: 'Unpin an issue or pull request',
    inputs: { issue: issueFor('pins.write') },
    call: ({ operations, actor, context }, { issue }) => operations.pins.unpin(actor, issue, context),
    reply: noContent,
    errors: [],
  }),
  route({
    method: 'PATCH',
    path: '/repos/{owner}/{repo}/issues/{index}/pin/{position}',
    operationId: 'moveIssuePin',
    service: 'pins',
    summary: 'Move a pinned issue or pull request to a position',
    inputs: { issue: issueFor('pins.write'), position: positionInPath },
    call: ({ operations, actor, context }, target) => operations.pins.move(actor, target, context),
    reply: noContent,
    errors: ['ISSUE_NOT_PINNED'],
  }),
  route({
    method: 'GET',
    path: '/repos/{owner}/{repo}/issues/pinned',
    operationId: 'repoListPinnedIssues',
    service: 'pins',
    summary: "List a repository's pinned issues",
    inputs: { repositoryId: repositoryFor('pins.read') },
    call: ({ operations, actor, context }, { repositoryId }) =>
      operations.pins.list(actor, { repositoryId, kind: 'issue' }, context),
    reply: pinnedList('issue'),
    errors: [],
  }),
  route({
    method: 'GET',
    path: '/repos/{owner}/{repo}/pulls/pinned',
    operationId: 'repoListPinnedPullRequests',
    service: 'pins',
    summary: "List a repository's pinned pull requests",
    inputs: { repositoryId: repositoryFor('pins.read') },
    call: ({ operations, actor, context }, { repositoryId }) =>
      operations.pins.list(actor, { repositoryId, kind: 'pullRequest' }, context),
    reply: pinnedList('pullRequest'),
    errors: [],
  }),
  route({
    method: 'GET',
    path: '/repos/{owner}/{repo}/new_pin_allowed',
    operationId: 'repoNewPinAllowed',
    service: 'pins',
    summary: 'Check whether another issue and another pull request may be pinned',
    inputs: { repositoryId: repositoryFor('pins.read') },
    call: ({ operations, actor, context }, { repositoryId }) => operations.pins.allowed(actor, repositoryId, context),
    reply: pinsAllowed,
    errors: [],
  }),
]

/** Pins: rows 5 to 10 of the specified interface. */
export const pinRoutes: ServiceRoutes<'findRepository' | 'findIssue', 'issues' | 'pullRequests'> = {
  description: 'Issues and pull requests that are pinned in a repository',
  needs: { directory: ['findRepository', 'findIssue'], present: ['issues', 'pullRequests'] },
  schemas: { Issue: issueSchema, PinsAllowed: pinsAllowedSchema, PullRequest: pullRequestSchema },
  routes,
}
