import { afterAll, beforeAll, test } from 'vitest'
import { storageContract } from '../../app/testing/testing.ts'
import type { StorageKind } from './storage-kind.ts'

/** The names of cases that together use every store, one of each kind of call: for a client or a database beside those that have all. */
export const QUICK_FORM: RegExp =
  /seed 1\) with text|of a block (returns|.* is undone)|two storages in one database do not/

const WITH_TABLES = ', where the tables of the host are known'
const OF_TWO = ', from two storages'

/**
 * Whether a server has a case before each change: the first of several seeds; of a case with one storage and with two, the
 * latter; and of a case with and without the tables of the host one, by turns. The quick tests have all of them on SQLite, and
 * the nightly tests on servers.
 */
export function isBeforeEachChange(name: string, names: ReadonlySet<string>): boolean {
  const [, seed = '1'] = /seed (\d)/.exec(name) ?? []
  const knows = name.endsWith(WITH_TABLES)
  const plain = knows ? name.slice(0, -WITH_TABLES.length) : name
  const isTurn = !names.has(plain) || !names.has(plain + WITH_TABLES) || knows === (plain.length % 2 === 1)
  const isOfMost = !names.has(plain + OF_TWO)
  return process.env['LONG'] === '1' || (seed === '1' && isTurn && isOfMost)
}

/** Runs the contract on one kind of storage: every case, or those whose names are selected. */
export function contractSuite<Tx>(
  { open, host, end }: StorageKind<Tx>,
  isSelected: (name: string, names: ReadonlySet<string>) => boolean = () => true,
): void {
  beforeAll(async () => (await open()).close()) // a database may need longer to start than a case may take
  afterAll(end)

  const cases = storageContract(open, host)
  const names = new Set(cases.map(({ name }) => name))
  for (const { name, run } of cases) if (isSelected(name, names)) test(name, run)
}
