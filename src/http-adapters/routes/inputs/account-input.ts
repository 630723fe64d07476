import type { Actor } from '../../../core/ports.ts'
import { notFound } from '../../../schema/errors.ts'
import type { Id } from '../../../schema/ids.ts'
import { toId } from '../../../schema/ids.ts'
import type { AccountRef } from '../../../schema/records.ts'
import type { Steps } from '../../../schema/steps.ts'
import { run, wait } from '../../../schema/steps.ts'
import type { Exchange } from '../exchange.ts'
import { isNothing } from '../nothing.ts'
import type { Input } from '../route.ts'
import { isName, nameSchema } from './name.ts'

/** An account, with the canonical text of its id. */
export interface FoundAccount extends AccountRef {
  readonly id: Id
}

/** The user or organization in the path. */
export const accountInPath: Input<AccountRef> = {
  parameters: [{ name: 'username', in: 'path', schema: nameSchema, description: 'name of the user' }],
  errors: ['USER_NOT_FOUND'],
  read: (exchange) => run(readAccount(exchange)),
}

/**
 * Finds the account that a parameter of the path names.
 *
 * @throws TypeError when the directory returns anything but an account, undefined or null
 */
export function* findAccount<A extends Actor>(
  exchange: Exchange<A>,
  parameter: string,
): Steps<FoundAccount | undefined> {
  const name = exchange.parameter(parameter)
  if (!isName(name)) return undefined

  const account = yield* wait(exchange.settings.directory.findAccount(name, exchange.context))
  return isNothing(account) ? undefined : toAccount(account)
}

/** An account of an unknown kind must not pass for one of the other. */
function toAccount({ kind, id }: AccountRef): FoundAccount {
  if (kind === 'user' || kind === 'organization') return { kind, id: toId(id, 'account.id') }
  throw new TypeError("findAccount must return { kind: 'user' or 'organization', id }, undefined or null")
}

function* readAccount<A extends Actor>(exchange: Exchange<A>): Steps<AccountRef> {
  const account = yield* findAccount(exchange, 'username')
  if (account === undefined) throw notFound('user')
  return account
}
