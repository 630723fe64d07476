import type { Actor } from '../../../core/ports.ts'
import { notFound } from '../../../schema/errors.ts'
import type { AccountRef } from '../../../schema/records.ts'
import type { Steps } from '../../../schema/steps.ts'
import { run, wait } from '../../../schema/steps.ts'
import type { Exchange } from '../exchange.ts'
import { isNothing } from '../nothing.ts'
import type { Input } from '../route.ts'
import { isName, nameSchema } from './name.ts'

/** The user or organization in the path. */
export const accountInPath: Input<AccountRef> = {
  parameters: [{ name: 'username', in: 'path', schema: nameSchema, description: 'name of the user' }],
  errors: ['USER_NOT_FOUND'],
  read: (exchange) => run(readAccount(exchange)),
}

/** Finds the account that a parameter of the path names. */
export function* findAccount<A extends Actor>(exchange: Exchange<A>, parameter: string): Steps<AccountRef | undefined> {
  const name = exchange.parameter(parameter)
  if (!isName(name)) return undefined

  return yield* wait(exchange.settings.directory.findAccount(name, exchange.context))
}

function* readAccount<A extends Actor>(exchange: Exchange<A>): Steps<AccountRef> {
  const account = yield* findAccount(exchange, 'username')
  if (isNothing(account)) throw notFound('user')
  return account
}
