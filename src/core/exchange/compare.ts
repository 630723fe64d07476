import type { IssueRecord } from '../../schema/issue-record.ts'
import type { WithPeople } from './incoming.ts'
import type { Accounts, Person } from './people.ts'

/** Properties that are compared as they are, in the order of the schema. */
const PLAIN = ['title', 'content', 'ref', 'milestone', 'state', 'is_locked', 'created', 'updated', 'closed'] as const

/**
 * Returns the first property in which an issue of a document differs from the host's issue of its number. Lists are
 * compared without their order and repetitions. Of labels only the names are compared, because a label keeps the color
 * that it has; e-mail addresses only if both have one, because they may be hidden from the caller. People are the same
 * if their texts or their accounts are. Source: docs/behaviour.md, Exchange
 */
export function firstDifference(
  incoming: WithPeople<IssueRecord>,
  onHost: WithPeople<IssueRecord>,
  accounts: Accounts,
): keyof IssueRecord | undefined {
  const [record, host] = [incoming.record, onHost.record]
  if (!isSame([identitiesOf(incoming.poster, accounts)], [identitiesOf(onHost.poster, accounts)])) {
    return record.poster_name === host.poster_name ? 'poster_id' : 'poster_name'
  }
  if (accounts.idOf(incoming.poster) === null && differs(record.poster_email, host.poster_email)) return 'poster_email'

  const plain = PLAIN.find((name) => record[name] !== host[name])
  if (plain !== undefined) return plain
  if (!isSame(labelsOf(record), labelsOf(host))) return 'labels'
  if (!isSame(reactionsOf(incoming, accounts), reactionsOf(onHost, accounts))) return 'reactions'
  return isSame(assigneesOf(incoming, accounts), assigneesOf(onHost, accounts)) ? undefined : 'assignees'
}

/** The texts that identify one thing. Two things are the same if they have one in common. */
type Identities = readonly string[]

function labelsOf({ labels = [] }: IssueRecord): readonly Identities[] {
  return labels.map(({ name }) => [name])
}

function assigneesOf({ assignees }: WithPeople<IssueRecord>, accounts: Accounts): readonly Identities[] {
  return assignees.map((person) => identitiesOf(person, accounts))
}

function reactionsOf({ record, reactors }: WithPeople<IssueRecord>, accounts: Accounts): readonly Identities[] {
  return reactors.map((person, at) =>
    identitiesOf(person, accounts).map((user) => JSON.stringify([user, record.reactions?.[at]?.content])),
  )
}

/** Returns what identifies a person: the text, and the account if there is one. */
function identitiesOf(person: Person, accounts: Accounts): Identities {
  const account = accounts.idOf(person)
  const asText = `text ${person.user.id ?? ''} ${person.user.name}`
  return account === null ? [asText] : [asText, `account ${account}`]
}

function differs(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one !== other
}

/** Returns whether each thing of one list is in the other. */
function isSame(one: readonly Identities[], other: readonly Identities[]): boolean {
  if (one.length === 0 || other.length === 0) return one.length === other.length
  return areIn(one, other) && areIn(other, one)
}

function areIn(things: readonly Identities[], others: readonly Identities[]): boolean {
  const all = new Set(others.flat())
  return things.every((thing) => thing.some((identity) => all.has(identity)))
}
