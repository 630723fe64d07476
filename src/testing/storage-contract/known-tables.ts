import type { ForgeEvent, Id } from '../../index.ts'
import type { ForgeStorage, Retired, Retirement } from '../../storage/storage.ts'
import { idsTo } from './cases/race.ts'
import { ID_TEXTS, NUMBERS } from './cases/reference-cases.ts'
import type { OpenStorage } from './cases/storage-case.ts'
import type { ContractHost, ContractTables } from './contract-host.ts'

const THINGS = ['user', 'organization', 'repository', 'issue'] as const

/** Every id that a case gives to something that must exist. */
const IDS: readonly Id[] = [
  ...new Set([
    ...NUMBERS,
    ...['0', '69998', '69999', '999999999'],
    ...idsTo(120),
    ...idsTo(300).map((n) => String(4999 + Number(n))),
    ...idsTo(20).flatMap((n) => ['0', ...idsTo(9)].map((each) => `${n}0${each}`)),
    ...idsTo(4).flatMap((round) => idsTo(3).map((n) => `${round}00${n}`)),
    ...['20', '30', '40', '50', '60', '70'].flatMap((wave) => idsTo(6).map((n) => `${wave}${n}`)),
  ]),
]

/** The storages of a host whose tables they know, and the same host with them. */
interface KnownTables<Tx> {
  readonly open: OpenStorage<Tx>
  readonly host: ContractHost<Tx>
}

/**
 * Returns a host whose storages know its tables. Everything that the cases name has a row there. Where a case reports a
 * deletion, the row is deleted, which records no event.
 */
export function knownTables<Tx>(host: ContractHost<Tx>, tables: ContractTables<Tx>): KnownTables<Tx> {
  /** The storages of the host, by what the cases have of them. */
  const inner = new WeakMap<ForgeStorage<Tx>, ForgeStorage<Tx>>()
  const innerOf = (storage: ForgeStorage<Tx>): ForgeStorage<Tx> => inner.get(storage) ?? storage

  const wrapped = (storage: ForgeStorage<Tx>): ForgeStorage<Tx> => {
    const deleting = new Proxy(storage, {
      get(target, name) {
        if (name === 'retire') return (retirement: Retirement<Tx>) => remove(host, tables, target, retirement)
        const member: unknown = Reflect.get(target, name)
        return typeof member === 'function' ? member.bind(target) : member
      },
    })
    inner.set(deleting, storage)
    return deleting
  }
  const opening = (open: OpenStorage<Tx>, ids: readonly Id[]) => async () => {
    const storage = await open()
    for (const thing of THINGS) await tables.create(storage, thing, ids)
    return wrapped(storage)
  }
  const { again, beside, begin, beginSnapshot, beginReadCommitted } = host
  const { textIds, hide } = tables

  return {
    open: opening(() => tables.open(), IDS),
    host: {
      ...host,
      again: again && (async (storage) => wrapped(await again(innerOf(storage)))),
      beside: beside && (async (storage) => wrapped(await beside(innerOf(storage)))),
      begin: begin && ((storage) => begin(innerOf(storage))),
      beginSnapshot: beginSnapshot && ((storage) => beginSnapshot(innerOf(storage))),
      beginReadCommitted: beginReadCommitted && ((storage) => beginReadCommitted(innerOf(storage))),
      textIds: textIds && opening(() => textIds(), [...ID_TEXTS, '10']),
      tables: {
        ...tables,
        create: (storage, thing, ids) => tables.create(innerOf(storage), thing, ids),
        remove: (storage, thing, id, transaction) => tables.remove(innerOf(storage), thing, id, transaction),
        addMember: (storage, member, transaction) => tables.addMember(innerOf(storage), member, transaction),
        hide: hide && ((storage, thing, row, transaction) => hide(innerOf(storage), thing, row, transaction)),
      },
    },
  }
}

/**
 * Deletes the row of what a case retires. If the case pauses before the commit, a transaction of the host is open so long:
 * not where the database has one connection, on which nothing could meet it.
 */
async function remove<Tx>(
  { begin, again }: ContractHost<Tx>,
  tables: ContractTables<Tx>,
  storage: ForgeStorage<Tx>,
  { retired, transaction, beforeCommit }: Retirement<Tx>,
): Promise<readonly ForgeEvent[]> {
  const { thing } = retired
  if (transaction !== undefined || beforeCommit === undefined || begin === undefined || again === undefined) {
    await tables.remove(storage, thing, idOf(retired), transaction)
    return []
  }
  const begun = await begin(storage)
  try {
    await tables.remove(storage, thing, idOf(retired), begun.transaction)
    await beforeCommit([], begun.transaction)
    await begun.commit()
  } catch (error) {
    await begun.rollback()
    throw error
  } finally {
    await begun.release?.()
  }
  return []
}

function idOf(retired: Retired): Id {
  if (retired.thing === 'user') return retired.userId
  if (retired.thing === 'organization') return retired.organizationId
  return retired.thing === 'repository' ? retired.repositoryId : retired.issueId
}
