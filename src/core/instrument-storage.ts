import { isObject, propertyOf } from '../schema/arguments.ts'
import type { ForgeErrorCode } from '../schema/errors.ts'
import { isForgeError } from '../schema/errors.ts'
import type { SyncOrAsync } from '../schema/sync-or-async.ts'
import { runMaybeAsync, wait } from '../schema/sync-or-async.ts'
import type { ForgeStorage, StoreName } from '../storage/contract/storage.ts'

/** One operation of the storage that has ended, for metrics. It contains no ids and no content. */
export interface ObservedOperation {
  /** The name of the store in the storage contract. `storage` for operations that concern all stores. */
  readonly store: StoreName | 'storage'
  /** The method of the contract: `update`, `epoch`, `load`, `page`, … Minor versions may add methods. */
  readonly operation: string
  /** The time from the call to its result, including all waits for locks and all retries. */
  readonly milliseconds: number
  /**
   * `done`: it succeeded; `refused`: a rule refused it; `aborted`: the caller's signal aborted it; `failed`: the storage
   * was busy, unavailable or not migrated, or an unexpected error was thrown.
   */
  readonly outcome: 'done' | 'refused' | 'aborted' | 'failed'
  /** The code of the `ForgeError` that it threw. Undefined if it threw another error or none. */
  readonly code: ForgeErrorCode | undefined
}

type Report = (seen: ObservedOperation) => void

/**
 * Wraps a storage so that each of its operations is reported after it has ended. The wrapped storage does the work and
 * gets every argument. An operation returns a promise only if the wrapped storage does.
 *
 * The operations are the methods that the storage and its stores have, so that the contract can grow without an edit
 * here.
 *
 * @param report - called with each operation; must not throw
 */
export function instrumentStorage<Tx>(storage: ForgeStorage<Tx>, report: Report): ForgeStorage<Tx> {
  return observed(storage, 'storage', report)
}

/** Observes a storage or a store. A member is read when it is used, not before: a storage may replace a store. */
function observed<Owner extends object>(owner: Owner, store: string, report: Report): Owner {
  // Not the owner itself is the target: the proxy of a frozen object may not return other members than it has.
  const target: Owner = Object.create(owner)
  return new Proxy(target, {
    get(_target, key) {
      const [member, name]: [unknown, string] = [Reflect.get(owner, key), String(key)]
      if (typeof member !== 'function') {
        return isObject(member) && store === 'storage' ? observed(member, name, report) : member
      }
      return (...given: readonly unknown[]) => {
        const begun = performance.now()
        const work = (): unknown => Reflect.apply(member, owner, given)
        const end = (ending: Ending): void => {
          // biome-ignore lint/nursery/noUnsafeTypeAssertion: an object in a storage is a store
          const seen = { store: store as ObservedOperation['store'], operation: name }
          report({ ...seen, milliseconds: performance.now() - begun, ...ending })
        }
        return runMaybeAsync(operate(work, given, end))
      }
    },
  })
}

function* operate(work: () => unknown, given: readonly unknown[], end: (ending: Ending) => void): SyncOrAsync<unknown> {
  let result: unknown
  try {
    result = yield* wait(work())
  } catch (error) {
    end(failureOf(error, given))
    throw error
  }
  end({ outcome: 'done', code: undefined })
  return result
}

type Ending = Pick<ObservedOperation, 'outcome' | 'code'>

/** The error codes for failures of the storage itself. Every other code means that a rule refused the operation. */
const FAULTS: ReadonlySet<ForgeErrorCode> = new Set([
  'STORAGE_BUSY',
  'STORAGE_UNAVAILABLE',
  'SCHEMA_OUTDATED',
  'SCHEMA_TOO_NEW',
  'SCHEMA_CONFLICT',
])

function failureOf(error: unknown, given: readonly unknown[]): Ending {
  if (given.some((argument) => hasAborted(argument, error))) return { outcome: 'aborted', code: undefined }
  if (!isForgeError(error)) return { outcome: 'failed', code: undefined }
  return { outcome: FAULTS.has(error.code) ? 'failed' : 'refused', code: error.code }
}

/** Whether an argument has a signal that aborted with this error. */
function hasAborted(argument: unknown, error: unknown): boolean {
  const signal = propertyOf(argument, 'signal')
  return propertyOf(signal, 'aborted') === true && propertyOf(signal, 'reason') === error
}
