import type { Actor } from '../../../core/ports.ts'
import type { AccessRequest } from '../../../schema/access.ts'
import { notFound } from '../../../schema/errors.ts'
import type { Id } from '../../../schema/ids.ts'
import type { Steps } from '../../../schema/steps.ts'
import { run, wait } from '../../../schema/steps.ts'
import type { Exchange } from '../exchange.ts'
import type { Input } from '../route.ts'
import { findAccount } from './account-input.ts'
import { nameSchema } from './name.ts'

/** What can be asked about an organization. */
export type OrganizationAction = Extract<AccessRequest, { readonly organizationId: Id }>['action']

/** The organization in the path, once the policy has let the caller do this there. */
export function organizationFor(action: OrganizationAction): Input<Id> {
  return {
    parameters: [{ name: 'org', in: 'path', schema: nameSchema, description: 'name of the organization' }],
    action,
    errors: ['ORGANIZATION_NOT_FOUND', 'FORBIDDEN'],
    read: (exchange) => run(enterOrganization(exchange, action)),
  }
}

function* enterOrganization<A extends Actor>(exchange: Exchange<A>, action: OrganizationAction): Steps<Id> {
  const account = yield* findAccount(exchange, 'org')
  if (account?.kind !== 'organization') throw notFound('organization')

  const organizationId = account.id
  yield* wait(exchange.operations.authorize(exchange.actor, { action, organizationId }, exchange.context))
  return organizationId
}
