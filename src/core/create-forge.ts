import { isObject, need } from '../schema/arguments.ts'
import { withInternals } from '../schema/doors.ts'
import type { ForgeEvent } from '../schema/events.ts'
import { safeObserver, toLogger } from '../schema/observer.ts'
import type { PinKind } from '../schema/records.ts'
import { runAsync, runMaybeAsync } from '../schema/sync-or-async.ts'
import { askPolicy, authorize } from './access/gate.ts'
import { servicesOf } from './bind-services.ts'
import { openCalls } from './call.ts'
import type { Environment } from './environment.ts'
import { eventService } from './events/event-service.ts'
import { Listeners } from './events/listeners.ts'
import { RunningConsumers } from './events/outbox-consumer.ts'
import type { Forge, ForgeInternals, ForgeLimits, ForgeOptions } from './forge.ts'
import { instrumentStorage } from './instrument-storage.ts'
import type { Actor } from './ports.ts'
import { withTransaction, withTransactionSync } from './with-transaction.ts'

const DEFAULT_MAX_PINS = 3
const MAX_PINS = 1000
const CALLER = 'createForge'
const MAX_NOTE_LENGTH = 255

/**
 * Creates a forge from a storage and the host's ports.
 *
 * @throws TypeError when an option is missing or out of its range
 */
export function createForge<A extends Actor, Tx>(options: ForgeOptions<A, Tx>): Forge<A, Tx> {
  const environment = toEnvironment(options)
  const listeners = new Listeners(environment.logger)
  const consumers = new RunningConsumers(environment.logger)
  const bindServices = servicesOf(environment)
  options.storage.onWarning?.((message) => environment.logger.warn(message, {}))

  const place = {
    transaction: undefined,
    beforeCommit: environment.beforeCommit,
    announce: (events: readonly ForgeEvent[]) => listeners.emit(events),
  }
  const guarded = openCalls<A, Tx>({ ...place, guarded: true })
  const unguarded = openCalls<A, Tx>({ ...place, guarded: false })

  const internals: ForgeInternals<A> = {
    operations: {
      ...bindServices(unguarded, runMaybeAsync),
      authorize: (actor, request, call) => runMaybeAsync(askPolicy(environment, unguarded(actor, call), request)),
    },
    logger: environment.logger,
  }
  const forge: Forge<A, Tx> = {
    ...bindServices(guarded, runAsync),
    events: eventService(environment, { listeners, consumers }),
    withTransaction: (transaction, work) =>
      withTransaction({ environment, listeners, bindServices }, transaction, work),
    withTransactionSync: (transaction, work) =>
      withTransactionSync({ environment, listeners, bindServices }, transaction, work),
    authorize: (actor, request, call) => runAsync(authorize(environment, guarded(actor, call), request)),
    close: async () => {
      await consumers.end()
      await environment.storage.close()
    },
  }
  return withInternals(forge, internals)
}

function toEnvironment<A extends Actor, Tx>(options: ForgeOptions<A, Tx>): Environment<A, Tx> {
  need(isObject(options), CALLER, 'options', 'an object with storage, policy and membership')
  const { storage, policy, membership, signingKey, limits = {}, beforeCommit, clock, newId, observe } = options
  const logger = toLogger(CALLER, options.logger)
  const needs = (isValid: boolean, name: string, expected: string): void => need(isValid, CALLER, name, expected)
  needs(typeof storage?.pinBoards === 'object', 'storage', 'a storage such as memoryStorage()')
  needs(typeof policy?.authorize === 'function', 'policy', 'an object with authorize(request, context)')
  needs(typeof membership?.isMember === 'function', 'membership', 'an object with isMember(member, context)')
  needs(isObject(limits), 'limits', 'an object such as { maxNoteLength: 100 }, or nothing')
  const { maxPins: pins = {} } = limits
  needs(isObject(pins), 'limits.maxPins', 'an object such as { issue: 5 }, or nothing')
  needs(
    signingKey === undefined || isKeySource(signingKey),
    'signingKey',
    'an object with format and publicKey(), or nothing',
  )
  needs(isFunctionOrNothing(beforeCommit), 'beforeCommit', 'a function, or nothing')
  needs(isFunctionOrNothing(newId), 'newId', 'a function, or nothing')
  needs(isFunctionOrNothing(observe), 'observe', 'a function, or nothing')
  needs(clock === undefined || typeof clock?.now === 'function', 'clock', 'an object with now(), or nothing')

  return {
    storage: observe === undefined ? storage : instrumentStorage(storage, safeObserver(observe, logger)),
    policy,
    membership,
    signingKey,
    maxPins: { issue: maxPins(limits, 'issue'), pullRequest: maxPins(limits, 'pullRequest') },
    maxNoteLength: integer(limits.maxNoteLength ?? MAX_NOTE_LENGTH, 'limits.maxNoteLength', MAX_NOTE_LENGTH),
    beforeCommit,
    logger,
    newId: newId ?? (() => crypto.randomUUID()),
    now: () => validDate(clock?.now() ?? new Date()),
  }
}

function isFunctionOrNothing(value: unknown): boolean {
  return value === undefined || typeof value === 'function'
}

function isKeySource(value: unknown): boolean {
  return isObject(value) && 'publicKey' in value && typeof value.publicKey === 'function' && 'format' in value
}

function validDate(now: Date): Date {
  if (now instanceof Date && !Number.isNaN(now.getTime())) return now
  throw new TypeError('clock.now() must give a valid Date')
}

function maxPins(limits: ForgeLimits, kind: PinKind): number {
  return integer(limits.maxPins?.[kind] ?? DEFAULT_MAX_PINS, `limits.maxPins.${kind}`, MAX_PINS)
}

function integer(value: number, name: string, most: number): number {
  if (Number.isSafeInteger(value) && value >= 0 && value <= most) return value
  throw new TypeError(`${name} must be an integer from 0 to ${most}`)
}
