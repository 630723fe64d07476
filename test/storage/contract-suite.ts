import { afterAll, beforeAll, test } from 'vitest'
import { storageContract } from '../../src/testing/testing.ts'
import type { StorageKind } from './storage-kind.ts'

/**
 * The names of cases that together use every store, without races and variants: a short form of the contract for databases
 * that are slow to test.
 */
export const SHORT_FORM: RegExp =
  /seed [12]|returns the result|transaction is undone|of a block .* only when|is kept or undone|two storages in|stored completely|exactly|before a time|renews|filtering users/

/** Those of them with which the quick tests run each store on a database in this process: one of each kind of call. */
export const QUICK_FORM: RegExp =
  /seed 1\) with text|of a block (returns|.* is undone)|two storages in one database do not/

/**
 * Whether a server has a case before each change: of drawn changes it has half, each seed with each kind of ids, and from one
 * and two storages, either with the tables of the host or without. The nightly tests have all.
 */
export function isBeforeEachChange(name: string): boolean {
  const [, seed] = /seed (\d)/.exec(name) ?? []
  const turns = [/with text ids|from two storages/, /where the tables of the host/].filter((one) => one.test(name))
  return process.env['LONG'] === '1' || seed === undefined || (Number(seed) + turns.length) % 2 === 1
}

/** Runs the contract on one kind of storage: every case, or those whose names are selected. */
export function contractSuite<Tx>(
  { open, host, end }: StorageKind<Tx>,
  isSelected: (name: string) => boolean = () => true,
): void {
  beforeAll(async () => (await open()).close()) // a database may need longer to start than a case may take
  afterAll(end)

  for (const { name, run } of storageContract(open, host)) if (isSelected(name)) test(name, run)
}
