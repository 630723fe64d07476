import { isObject } from '../schema/arguments.ts'
import type { ForgeErrorCode } from '../schema/errors.ts'
import { isForgeError } from '../schema/errors.ts'
import { settle } from '../schema/sync-or-async.ts'
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
   * `done`: it succeeded; `stale`: a lifecycle call came in between, and the forge tries again; `refused`: a rule
   * refused it; `aborted`: the caller's signal aborted it; `failed`: the storage was busy, unavailable or not migrated,
   * or an unexpected error was thrown.
   */
  readonly outcome: 'done' | 'stale' | 'refused' | 'aborted' | 'failed'
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
  const methods = methodsOf(storage, 'storage', report)
  return instrumentMembers(storage, (name, member) =>
    isObject(member) ? instrumentMembers(member, methodsOf(member, name, report)) : methods(name, member),
  )
}

/** Returns what stands for a member in the instrumented object. */
type Instrument = (name: string, member: unknown) => unknown

function methodsOf(owner: object, store: string, report: Report): Instrument {
  return (name, member) => (typeof member === 'function' ? instrumentMethod(owner, store, name, report) : member)
}

/**
 * Returns an object with the same members, instrumented. A member is read when it is used, not before: a storage may
 * replace a store, and may have members that are not stores.
 */
function instrumentMembers<Owner extends object>(owner: Owner, instrument: Instrument): Owner {
  const instrumented = {}
  for (const name of namesOf(owner)) {
    let known: { readonly member: unknown; readonly instead: unknown } | undefined
    const get = (): unknown => {
      const member: unknown = Reflect.get(owner, name)
      if (known === undefined || known.member !== member) known = { member, instead: instrument(name, member) }
      return known.instead
    }
    Object.defineProperty(instrumented, name, { get, enumerable: true, configurable: true })
  }
  // biome-ignore lint/nursery/noUnsafeTypeAssertion: every member is there with its type
  return instrumented as Owner
}

/** The names of an object's own members and of those of its class. */
function namesOf(owner: object): readonly string[] {
  const names = new Set<string>()
  for (let part = owner; part !== Object.prototype && part !== null; part = Object.getPrototypeOf(part)) {
    for (const name of Object.getOwnPropertyNames(part)) names.add(name)
  }
  names.delete('constructor')
  return [...names]
}

function instrumentMethod(
  owner: object,
  store: string,
  operation: string,
  report: Report,
): (...given: readonly unknown[]) => unknown {
  return (...given) => {
    const begun = performance.now()
    // biome-ignore lint/nursery/noUnsafeTypeAssertion: an object in a storage is a store
    const seen = { store: store as ObservedOperation['store'], operation }
    const end = (ending: Ending): void => report({ ...seen, milliseconds: performance.now() - begun, ...ending })
    return settle<unknown, unknown>(
      () => Reflect.apply(Reflect.get(owner, operation), owner, given),
      (result) => {
        end({ outcome: isStale(result) ? 'stale' : 'done', code: undefined })
        return result
      },
      (error) => {
        end(failureOf(error, given))
        throw error
      },
    )
  }
}

type Ending = Pick<ObservedOperation, 'outcome' | 'code'>

/** The error codes for failures of the storage itself. Every other code means that a rule refused the operation. */
const FAULTS: ReadonlySet<ForgeErrorCode> = new Set([
  'STORAGE_BUSY',
  'STORAGE_UNAVAILABLE',
  'SCHEMA_OUTDATED',
  'SCHEMA_TOO_NEW',
])

function isStale(result: unknown): boolean {
  return isObject(result) && 'stale' in result && result.stale === true
}

function failureOf(error: unknown, given: readonly unknown[]): Ending {
  if (given.some((argument) => hasAborted(argument, error))) return { outcome: 'aborted', code: undefined }
  if (!isForgeError(error)) return { outcome: 'failed', code: undefined }
  return { outcome: FAULTS.has(error.code) ? 'failed' : 'refused', code: error.code }
}

/** Whether an argument has a signal that aborted with this error. */
function hasAborted(argument: unknown, error: unknown): boolean {
  if (!isObject(argument) || !('signal' in argument) || !isObject(argument.signal)) return false

  const { signal } = argument
  return 'aborted' in signal && signal.aborted === true && 'reason' in signal && signal.reason === error
}
