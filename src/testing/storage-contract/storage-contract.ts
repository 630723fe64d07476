import type { ForgeStorage } from '../../storage/storage.ts'
import type { ContractCase } from '../contract-case.ts'
import { abortCases, changeCases, eventCases, retirementCases } from './cases/change-cases.ts'
import { consumerCases, pruneCases } from './cases/consumer-cases.ts'
import { hidingCases } from './cases/hiding-cases.ts'
import { lifeCases } from './cases/life-cases.ts'
import { lockOrderCases } from './cases/lock-order-cases.ts'
import { outboxOrderCases } from './cases/outbox-order-cases.ts'
import { overtakingCases } from './cases/overtaking-cases.ts'
import { ownershipCases } from './cases/ownership-cases.ts'
import { prepareCases } from './cases/prepare-cases.ts'
import { racingCases, replayCases } from './cases/racing-cases.ts'
import { readerCases } from './cases/reader-cases.ts'
import { referenceCases } from './cases/reference-cases.ts'
import { sequentialCases } from './cases/sequential-cases.ts'
import type { OpenStorage, StorageCase } from './cases/storage-case.ts'
import { tableCases } from './cases/table-cases.ts'
import { transactionCases } from './cases/transaction-cases.ts'
import type { ContractHost } from './contract-host.ts'
import { knownTables } from './known-tables.ts'

const CASES: readonly StorageCase[] = [
  ...lifeCases,
  ...sequentialCases,
  ...changeCases,
  ...retirementCases,
  ...prepareCases,
  ...ownershipCases,
  ...eventCases,
  ...abortCases,
  ...racingCases,
  ...overtakingCases,
  ...lockOrderCases,
  ...readerCases,
  ...outboxOrderCases,
  ...consumerCases,
  ...pruneCases,
  ...transactionCases,
]

/** The seeds of the cases that compare a storage with `memoryStorage`, if the host names none. */
const SEEDS = [1, 2, 3, 4]

/**
 * Returns the requirements for every storage (docs/storage.md), as plain cases for any test runner. The cases may run
 * concurrently. Allow each case 30 seconds, because some of them race hundreds of writers.
 *
 * @param open - opens a new storage, migrated and empty, each time it is called; the case closes it
 * @param host - what the cases with more than one storage need; cases that need a part which it omits are left out
 */
export function storageContract<Tx>(
  open: () => Promise<ForgeStorage<Tx>>,
  host: ContractHost<Tx> = {},
): readonly ContractCase[] {
  if (typeof open !== 'function')
    throw new TypeError('storageContract needs open, a function that returns a fresh storage')
  if (typeof host !== 'object' || host === null) throw new TypeError('host must be an object or omitted')

  const { seeds = SEEDS, tables } = host
  const reporting = runnable([...drawnCases(seeds, 'with reports'), ...CASES], open, host)
  if (tables === undefined) return reporting

  const known = knownTables(host, tables)
  const both = [...drawnCases(seeds, 'without'), ...CASES.filter(({ isOfReports }) => isOfReports !== true)]
  const cases = [...both, ...tableCases, ...(tables.hide === undefined ? [] : hidingCases)]
  const named = cases.map(
    (one): StorageCase => ({ ...one, name: `${one.name}, where the tables of the host are known` }),
  )
  return [...reporting, ...runnable(named, known.open, known.host)]
}

function drawnCases(seeds: readonly number[], reports: 'with reports' | 'without'): readonly StorageCase[] {
  return [...referenceCases(seeds, reports), ...replayCases(reports)]
}

function runnable<Tx>(
  cases: readonly StorageCase[],
  open: OpenStorage<Tx>,
  host: ContractHost<Tx>,
): readonly ContractCase[] {
  return cases
    .filter(({ needs }) => needs.every((part) => host[part] !== undefined))
    .map((one) => ({ name: one.name, run: () => one.run(open, host) }))
}
