import type { Actor } from '../../../core/ports.ts'
import type { Action } from '../../../schema/access.ts'
import { notFound } from '../../../schema/errors.ts'
import type { Id } from '../../../schema/ids.ts'
import type { Steps } from '../../../schema/steps.ts'
import { run, wait } from '../../../schema/steps.ts'
import type { Exchange } from '../exchange.ts'
import type { Input } from '../route.ts'
import { findAccount } from './account-input.ts'
import { nameSchema } from './name.ts'

/** What can be asked about any user, before a name is looked up. */
export type UserAction = Extract<Action, 'badges.read' | 'badges.grant'>

/** The user in the path, looked up once the policy has let the caller do this to any user. An organization's name is unknown here. */
export function userFor(action: UserAction): Input<Id> {
  return {
    parameters: [{ name: 'username', in: 'path', schema: nameSchema, description: 'name of the user' }],
    action,
    errors: ['FORBIDDEN', 'USER_NOT_FOUND'],
    read: (exchange) => run(findUser(exchange, action)),
  }
}

function* findUser<A extends Actor>(exchange: Exchange<A>, action: UserAction): Steps<Id> {
  yield* wait(exchange.operations.authorize(exchange.actor, { action, userId: undefined }, exchange.context))

  const account = yield* findAccount(exchange, 'username')
  if (account?.kind !== 'user') throw notFound('user')
  return account.id
}
