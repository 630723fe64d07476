import assert from 'node:assert/strict'
import type { ForgeErrorCode } from '../../../index.ts'
import { isForgeError } from '../../../index.ts'
import type { ForgeStorage } from '../../../storage/storage.ts'
import type { ContractHost } from '../contract-host.ts'
import { CaseHost } from './case-host.ts'

/** Opens a new storage, migrated and empty, each time it is called. */
export type OpenStorage<Tx> = () => Promise<ForgeStorage<Tx>>

/** One requirement for every storage. `run` rejects if the storage does not meet it. */
export interface StorageCase {
  /** A statement in the present tense. */
  readonly name: string
  /** The parts of the host that the case requires. */
  readonly needs: readonly (keyof ContractHost<unknown>)[]
  run<Tx>(open: OpenStorage<Tx>, host: ContractHost<Tx>): Promise<void>
}

/** Creates a case from a statement and a check that runs on one new storage. The case closes the storage afterwards. */
export function storageCase(name: string, check: <Tx>(storage: ForgeStorage<Tx>) => Promise<void>): StorageCase {
  return hostCase(name, [], check)
}

/** Creates a case that needs a part of the host, from a statement and a check that runs on one new storage. */
export function hostCase(
  name: string,
  needs: StorageCase['needs'],
  check: <Tx>(storage: ForgeStorage<Tx>, bench: CaseHost<Tx>) => Promise<void>,
): StorageCase {
  return {
    name,
    needs,
    async run(open, host) {
      const storage = await open()
      const bench = new CaseHost(storage, host)
      try {
        await check(storage, bench)
      } finally {
        await bench.end()
      }
    },
  }
}

/** Creates a case that runs on a storage in which ids may be any text. */
export function textIdCase(name: string, check: <Tx>(storage: ForgeStorage<Tx>) => Promise<void>): StorageCase {
  return {
    name,
    needs: ['textIds'],
    run: (open, host) => storageCase(name, check).run(host.textIds ?? open, host),
  }
}

/** Checks that a call is refused with this code, whether it throws synchronously or rejects. */
export async function refuses(code: ForgeErrorCode, call: () => unknown): Promise<void> {
  const outcome = await outcomeOf(call)
  assert.ok('thrown' in outcome, `refused with ${code}, but it answered`)
  assert.ok(isForgeError(outcome.thrown, code), `refused with ${code}, but it threw ${String(outcome.thrown)}`)
}

/** The outcome of a call: a value, or the error that it threw or rejected with. */
export type Outcome<T = unknown> = { readonly value: T } | { readonly thrown: unknown }

/** Makes a call and returns its outcome. */
export async function outcomeOf<T>(call: () => T): Promise<Outcome<Awaited<T>>>
export async function outcomeOf(call: () => unknown): Promise<Outcome>
export async function outcomeOf(call: () => unknown): Promise<Outcome> {
  try {
    return { value: await call() }
  } catch (thrown) {
    return { thrown }
  }
}
