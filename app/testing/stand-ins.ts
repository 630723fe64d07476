import type { Actor, Id, Policy } from 'forgelet'
import { toId } from 'forgelet'
import { hostPolicy } from '../standalone/host-store/host-ports.ts'
import { idOf, NO_ID } from '../standalone/host-store/roles.ts'
import type { Row } from '../standalone/host-store/tables.ts'
import type { TestRows } from './test-world.ts'

/** Your own users, who take the places of those in a fixture: which account is whose. */
export class StandIns<A extends Actor> {
  readonly #rows: TestRows
  readonly #userIds: ReadonlyMap<string, Id> | undefined

  /** @param users - by normalized name; undefined: those of the fixture. @throws TypeError if two have the same id */
  constructor(rows: TestRows, users: ReadonlyMap<string, A> | undefined) {
    this.#rows = rows
    if (users === undefined) return

    this.#userIds = new Map([...users].map(([name, { id }]) => [name, toId(id, `users.${name}.id`)]))
    if (new Set(this.#userIds.values()).size < users.size) throw new TypeError('two users have the same id')
  }

  /** Returns the account of a user; the id of nothing if the fixture has no user of that name. */
  accountOf(userId: Id): number {
    if (this.#userIds === undefined) return idOf(userId)
    const [name = ''] = [...this.#userIds].find(([, id]) => id === userId) ?? []
    return this.#rows.findAccount(name)?.id ?? NO_ID
  }

  /** Returns the user of an account: an id that no other user has, if the account is only in the fixture. */
  userOf({ id, folded_name }: Row<'accounts'>): Id {
    return this.#userIds === undefined ? String(id) : (this.#userIds.get(folded_name) ?? `fixture:${id}`)
  }

  /** Returns Gitea's rules over the fixture. */
  policy(): Policy<A> {
    const { authorize } = hostPolicy(this.#rows)
    return {
      authorize: (request, { actor, ...context }) => {
        if (actor === 'anonymous') return authorize(request, { actor, ...context })
        const id = String(this.accountOf(toId(actor.id, 'actor.id')))
        return authorize(request, { actor: { id, username: '' }, ...context })
      },
    }
  }
}
