import type { Actor } from '../../../core/ports.ts'
import type { Id } from '../../../schema/ids.ts'
import type { AccountRef, Block } from '../../../schema/records.ts'
import type { MaybePromise } from '../../../schema/sync-or-async.ts'
import { after } from '../../../schema/sync-or-async.ts'
import type { NumberedPage } from '../pages.ts'
import { pageInQuery } from '../pages.ts'
import { accountInPath, organizationFor } from '../path-inputs.ts'
import { noContent } from '../reply.ts'
import type { RequestContext } from '../request-context.ts'
import type { Route, ServiceRoutes } from '../route.ts'
import { route } from '../route.ts'
import { noteInQuery } from './block-inputs.ts'
import type { BlockPage } from './block-replies.ts'
import { blockedOrNot, blockPage, userSchema } from './block-replies.ts'

const routes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/orgs/{org}/blocks',
    operationId: 'organizationListBlocks',
    service: 'blocks',
    summary: 'List the users that an organization blocks',
    inputs: { organizationId: organizationFor('blocks.read'), page: pageInQuery },
    call: (requestContext, { organizationId, page }) => listBlocks(requestContext, organizationId, page),
    reply: blockPage,
    errors: [],
  }),
  route({
    method: 'GET',
    path: '/orgs/{org}/blocks/{username}',
    operationId: 'organizationCheckUserBlock',
    service: 'blocks',
    summary: 'Check whether an organization blocks a user',
    inputs: { organizationId: organizationFor('blocks.read'), account: accountInPath },
    call: (requestContext, { organizationId, account }) => findBlock(requestContext, organizationId, account),
    reply: blockedOrNot,
    errors: [],
  }),
  route({
    method: 'PUT',
    path: '/orgs/{org}/blocks/{username}',
    operationId: 'organizationBlockUser',
    service: 'blocks',
    summary: 'Block a user',
    inputs: { organizationId: organizationFor('blocks.write'), account: accountInPath, note: noteInQuery },
    call: ({ operations, actor, context }, target) => operations.blocks.block(actor, target, context),
    reply: noContent,
    errors: ['CANNOT_BLOCK_ORGANIZATION', 'CANNOT_BLOCK_SELF', 'CANNOT_BLOCK_MEMBER', 'ALREADY_BLOCKED'],
  }),
  route({
    method: 'DELETE',
    path: '/orgs/{org}/blocks/{username}',
    operationId: 'organizationUnblockUser',
    service: 'blocks',
    summary: 'Unblock a user',
    inputs: { organizationId: organizationFor('blocks.write'), account: accountInPath },
    call: ({ operations, actor, context }, target) => operations.blocks.unblock(actor, target, context),
    reply: noContent,
    errors: ['CANNOT_BLOCK_ORGANIZATION', 'NOT_BLOCKED'],
  }),
]

/** Blocks: rows 11 to 14 of the specified interface. */
export const blockRoutes: ServiceRoutes<'findAccount', 'users'> = {
  description: 'Users that an organization blocks',
  needs: { directory: ['findAccount'], present: ['users'] },
  schemas: { User: userSchema },
  routes,
}

function listBlocks<A extends Actor>(
  { operations, actor, context }: RequestContext<A>,
  organizationId: Id,
  page: NumberedPage,
): MaybePromise<BlockPage> {
  const listed = operations.blocks.list(actor, { organizationId, ...page }, context)
  return after(listed, (blocks) => ({ page, blocks }))
}

/** An organization is never blocked. Its id may also be the id of a user, so the service is not asked. */
function findBlock<A extends Actor>(
  { operations, actor, context }: RequestContext<A>,
  organizationId: Id,
  account: AccountRef,
): MaybePromise<Block | undefined> {
  if (account.kind === 'organization') return undefined
  return operations.blocks.find(actor, { organizationId, userId: account.id }, context)
}
