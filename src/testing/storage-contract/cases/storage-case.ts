import assert from 'node:assert/strict'
import type { ForgeErrorCode } from '../../../index.ts'
import { isForgeError } from '../../../index.ts'
import type { ForgeStorage } from '../../../storage/storage.ts'
import type { ContractHost } from '../contract-host.ts'
import { Bench } from './bench.ts'

/** Gives a fresh storage, migrated and empty, each time it is called. */
export type OpenStorage<Tx> = () => Promise<ForgeStorage<Tx>>

/** One thing every storage must do; `run` rejects when this one does not. */
export interface StorageCase {
  /** A fact, in the present tense. */
  readonly name: string
  /** The parts of the host without which it cannot be run. */
  readonly needs: readonly (keyof ContractHost<unknown>)[]
  run<Tx>(open: OpenStorage<Tx>, host: ContractHost<Tx>): Promise<void>
}

/** Makes a case of a fact and what checks it on one fresh storage, which is closed afterwards. */
export function storageCase(name: string, check: <Tx>(storage: ForgeStorage<Tx>) => Promise<void>): StorageCase {
  return hostCase(name, [], check)
}

/** Makes a case of a fact for which the host must give something, and what checks it on one fresh storage. */
export function hostCase(
  name: string,
  needs: StorageCase['needs'],
  check: <Tx>(storage: ForgeStorage<Tx>, bench: Bench<Tx>) => Promise<void>,
): StorageCase {
  return {
    name,
    needs,
    async run(open, host) {
      const storage = await open()
      const bench = new Bench(storage, host)
      try {
        await check(storage, bench)
      } finally {
        await bench.end()
      }
    },
  }
}

/** Checks that a call is refused with this code, whether it throws at once or rejects. */
export async function refuses(code: ForgeErrorCode, call: () => unknown): Promise<void> {
  const outcome = await outcomeOf(call)
  assert.ok('thrown' in outcome, `refused with ${code}, but it answered`)
  assert.ok(isForgeError(outcome.thrown, code), `refused with ${code}, but it threw ${String(outcome.thrown)}`)
}

/** What a call ended with: a value, or what it threw or rejected with. */
export type Outcome = { readonly value: unknown } | { readonly thrown: unknown }

/** Makes a call, and gives what it ended with. */
export async function outcomeOf(call: () => unknown): Promise<Outcome> {
  try {
    return { value: await call() }
  } catch (thrown) {
    return { thrown }
  }
}
