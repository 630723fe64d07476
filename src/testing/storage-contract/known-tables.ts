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
  /** The host finds the database of a storage by the storage, so it stays the same object. */
  const deleting = (storage: ForgeStorage<Tx>): ForgeStorage<Tx> => {
    storage.retire = (retirement) => remove(host, tables, storage, retirement)
    return storage
  }
  const opening = (open: OpenStorage<Tx>, ids: readonly Id[]) => async () => {
    const storage = await open()
    for (const thing of THINGS) await tables.create(storage, thing, ids)
    return deleting(storage)
  }
  const { again, beside } = host
  const { textIds } = tables

  return {
    open: opening(() => tables.open(), IDS),
    host: {
      ...host,
      again: again && (async (storage) => deleting(await again(storage))),
      beside: beside && (async (storage) => deleting(await beside(storage))),
      textIds: textIds && opening(() => textIds(), [...ID_TEXTS, '10']),
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
