// The published contract of storages in a Durable Object. Storages of one object differ by their prefixes.
import { durableObjectStorage } from 'forgelet/storage/durable-object'
import { storageContract } from 'forgelet/testing'

const TEXT_IDS = { ids: { user: 'text', organization: 'text', repository: 'text', issue: 'text' } }

/**
 * What an object cannot know: its transactions are all `ctx.storage`, so one that has ended is as good as one that is open.
 * Source: docs/databases.md
 */
const NOT_KNOWN = 'an open host’s transaction is accepted, one that has ended is not'

/** Each case with what runs it on the storage of an object. */
export const contractCases = ['other storages', 'transactions'].flatMap((parts) =>
  contractOn(undefined, parts).map(({ name }) => ({
    name: `${parts}: ${name}`,
    run: ({ storage }) =>
      contractOn(storage, parts)
        .find((one) => one.name === name)
        .run(),
  })),
)

/**
 * Nothing in an object stands beside its one connection: while an asynchronous transaction is open, another storage over the
 * same data sees what it wrote. So the parts that need other storages are run apart from those that need transactions.
 */
function contractOn(database, parts) {
  const prefixes = new WeakMap()
  let count = 0

  const over = async (prefix, options = {}) => {
    const storage = durableObjectStorage(database, { prefix, ...options })
    await storage.migrate()
    prefixes.set(storage, prefix)
    return storage
  }
  const fresh = (options) => {
    count += 1
    return over(`fresh_${count}_`, options)
  }
  const others = {
    again: (storage) => over(prefixes.get(storage)),
    beside: (storage) => over(`beside_${prefixes.get(storage)}`),
    textIds: () => fresh(TEXT_IDS),
  }
  const open = () => fresh()
  const cases = storageContract(open, others)
  if (parts === 'other storages') return cases

  const names = new Set(cases.map(({ name }) => name))
  const all = storageContract(open, { begin: beginner(database) })
  return all.filter(({ name }) => !names.has(name) && name !== NOT_KNOWN)
}

/** Begins transactions that outlast a turn: an object has them too, one at a time. */
function beginner(database) {
  let isOpen = false

  return async () => {
    if (isOpen) throw new Error('another transaction is open')
    isOpen = true
    const [begun, end] = [Promise.withResolvers(), Promise.withResolvers()]
    const whole = database.transaction(async (transaction) => {
      begun.resolve()
      if (!(await end.promise)) transaction.rollback()
    })
    await begun.promise
    const ended = (kept) => async () => {
      end.resolve(kept)
      await whole
      isOpen = false
    }
    return { transaction: database, commit: ended(true), rollback: ended(false) }
  }
}
