import { isObject, need, toInteger } from '../schema/arguments.ts'
import { withInternals } from '../schema/internal.ts'
import type { OptionRules } from '../schema/options.ts'
import { ANY, checkOptions, FUNCTION, optional, toServiceNames } from '../schema/options.ts'
import { isValidDate } from '../schema/realms.ts'
import type { ForgeEvent, PinKind } from '../schema/records.ts'
import { promiseTry, runMaybeAsync } from '../schema/sync-or-async.ts'
import type { ForgeStorage } from '../storage/contract/storage.ts'
import type { AsyncScope, Environment, OpenTransaction, Scope } from './call.ts'
import { Call } from './call.ts'
import { eventService } from './events/event-service.ts'
import { Listeners } from './events/listeners.ts'
import { RunningConsumers } from './events/outbox-consumer.ts'
import { exportsIn } from './exchange/exchange-service.ts'
import type { Forge, ForgeInternals, ForgeLimits, ForgeOptions, ForgeSettings, KnowsMembers } from './forge.ts'
import { instrumentStorage } from './instrument-storage.ts'
import { DEFAULT_MAX_PINS } from './pins/pin-rules.ts'
import { askPolicy, authorize } from './policy.ts'
import type { Actor } from './ports.ts'
import { quietLogger, quietObserver } from './quietly.ts'
import type { ServiceName } from './services.ts'
import { SERVICE_KEYS, servicesIn } from './services.ts'
import { KeyExpiry } from './signing-keys/key-expiry.ts'
import { withTransaction, withTransactionSync } from './with-transaction.ts'

// biome-ignore lint/nursery/noUnsafeTypeAssertion: keys are typed as strings; these are the names
const SERVICE_NAMES = Object.keys(SERVICE_KEYS) as readonly ServiceName[]
const MAX_PINS = 1000
const CALLER = 'createForge'
const MAX_NOTE_LENGTH = 255
const MEMBERSHIP = 'an object with isMember(member, context), for the service blocks, or a storage with tables.members'

const OPTIONS: OptionRules<ForgeSettings<never, never, never>> = {
  storage: [(value) => isObject(value) && 'pinBoards' in value, 'a storage such as memoryStorage()'],
  policy: [(value) => has(value, 'authorize'), 'an object with authorize(request, context)'],
  membership: [(value) => value === undefined || has(value, 'isMember'), MEMBERSHIP],
  issues: optional(
    isTracker,
    "an object with issues(query, context), comments (a method, or 'none'), findUsers(users, context) and write(batch, context)",
  ),
  signingKey: optional(
    (value) => has(value, 'publicKey') && 'format' in Object(value),
    'an object with format and publicKey()',
  ),
  services: ANY,
  limits: optional(isObject, 'an object such as { maxNoteLength: 100 }'),
  beforeCommit: FUNCTION,
  newId: FUNCTION,
  clock: optional((value) => has(value, 'now'), 'an object with now()'),
  logger: ANY,
  observer: optional(isObserver, 'an object with operation(operation) or request(request)'),
}
const LIMITS: OptionRules<ForgeLimits> = {
  maxPins: optional(isObject, 'an object such as { issue: 5 }'),
  maxNoteLength: ANY,
}
const PIN_KINDS: OptionRules<Record<PinKind, number>> = { issue: ANY, pullRequest: ANY }

/**
 * Creates a forge from a storage and the host's ports. With `services` it has only these services, and needs only the
 * ports that they call.
 *
 * @throws TypeError when an option is missing or out of its range
 */
export function createForge<A extends Actor, Tx, S extends ServiceName = ServiceName>(
  options: ForgeSettings<A, Tx, S> & { readonly storage: ForgeStorage<Tx> & KnowsMembers },
): Forge<A, Tx, S>
/** The same for a storage that does not know the members. */
export function createForge<A extends Actor, Tx, S extends ServiceName = ServiceName>(
  options: ForgeOptions<A, Tx, S>,
): Forge<A, Tx, S>
// The code is the same for every set of services, and for all types of actors and transactions: see the signatures above.
export function createForge(options: ForgeSettings<Actor, OpenTransaction, ServiceName>): object {
  checkOptions(CALLER, options, OPTIONS)
  const { observer } = options
  const names = toServiceNames(options.services, SERVICE_NAMES)
  const environment = toEnvironment(options, names)
  const listeners = new Listeners(environment.logger)
  const consumers = new RunningConsumers(environment.logger)
  const chosen = <T extends object>(all: T): T => withoutOthers(all, names)

  const base = {
    environment,
    transaction: undefined,
    mayWait: true,
    beforeCommit: environment.beforeCommit,
    announce: (events: readonly ForgeEvent[]) => listeners.emit(events),
  }
  const guarded: AsyncScope = {
    guarded: true,
    run: (actor, call, steps) => promiseTry(() => runMaybeAsync(steps(new Call(actor, undefined, call)))),
    ...base,
  }
  const unguarded: Scope = {
    guarded: false,
    run: (actor, call, steps) => runMaybeAsync(steps(new Call(actor, undefined, call))),
    ...base,
  }
  const [services, operations] = [servicesIn(guarded), servicesIn(unguarded)]

  const internals: ForgeInternals = {
    operations: {
      ...operations,
      exchange: { ...operations.exchange, ...exportsIn(unguarded) },
      authorize: (actor, request, call) => unguarded.run(actor, call, (open) => askPolicy(unguarded, open, request)),
    },
    services: names,
    hasIssues: environment.issues !== undefined,
    logger: environment.logger,
    observe: observer?.request && quietObserver((request) => observer.request?.(request), environment.logger),
    newId: environment.newId,
  }
  const forge: Forge<Actor, OpenTransaction> = {
    services: [...names],
    ...chosen({ ...services, exchange: { ...services.exchange, ...exportsIn(guarded) } }),
    events: eventService(environment, listeners, consumers),
    withTransaction: (transaction, work) => withTransaction({ environment, listeners, chosen }, transaction, work),
    withTransactionSync: (transaction, work) =>
      withTransactionSync({ environment, listeners, chosen }, transaction, work),
    authorize: (actor, request, call) => guarded.run(actor, call, (open) => authorize(guarded, open, request)),
    close: async () => {
      await consumers.end()
      await environment.storage.close()
    },
  }
  return withInternals(forge, internals)
}

/** Leaves out the services that were not chosen. */
function withoutOthers<T extends object>(all: T, chosen: readonly ServiceName[]): T {
  const others = SERVICE_NAMES.filter((name) => !chosen.includes(name)).map((name): string => SERVICE_KEYS[name])
  if (others.length === 0) return all

  // biome-ignore lint/nursery/noUnsafeTypeAssertion: the host's type has the same names
  return Object.fromEntries(Object.entries(all).filter(([key]) => !others.includes(key))) as T
}

function toEnvironment(
  options: ForgeSettings<Actor, OpenTransaction, ServiceName>,
  services: readonly ServiceName[],
): Environment {
  const { storage, policy, membership, issues, signingKey, limits = {}, beforeCommit, clock, newId, observer } = options
  const logger = quietLogger(CALLER, options.logger)
  const readsMembers = storage.host?.isMember !== undefined
  need(membership !== undefined || readsMembers || !services.includes('blocks'), CALLER, 'membership', MEMBERSHIP)
  checkOptions(CALLER, limits, LIMITS, 'limits.')
  checkOptions(CALLER, limits.maxPins ?? {}, PIN_KINDS, 'limits.maxPins.')

  return {
    storage: observer?.operation
      ? instrumentStorage(
          storage,
          quietObserver((operation) => observer.operation?.(operation), logger),
        )
      : storage,
    policy,
    membership,
    issues,
    signingKey,
    keyExpiry: new KeyExpiry(),
    maxPins: { issue: maxPins(limits, 'issue'), pullRequest: maxPins(limits, 'pullRequest') },
    maxNoteLength: toInteger(limits.maxNoteLength ?? MAX_NOTE_LENGTH, 'limits.maxNoteLength', 0, MAX_NOTE_LENGTH),
    beforeCommit,
    logger,
    newId: newId ?? (() => crypto.randomUUID()),
    now: () => validDate(clock?.now() ?? new Date()),
  }
}

function isTracker(value: unknown): boolean {
  if (!has(value, 'issues', 'findUsers', 'write')) return false
  return has(value, 'comments') || Reflect.get(Object(value), 'comments') === 'none'
}

function isObserver(value: unknown): boolean {
  return isObject(value) && ['operation', 'request'].every((name) => FUNCTION[0](Reflect.get(value, name)))
}

/** Returns whether a value has methods of these names. */
function has(value: unknown, ...methods: readonly string[]): boolean {
  return methods.every((name) => typeof Reflect.get(Object(value), name) === 'function')
}

/** Checks a time of the clock, and copies it, because a clock may go on with the same Date. */
function validDate(now: Date): Date {
  if (isValidDate(now)) return new Date(now)
  throw new TypeError('clock.now() must return a valid Date')
}

function maxPins(limits: ForgeLimits, kind: PinKind): number {
  return toInteger(limits.maxPins?.[kind] ?? DEFAULT_MAX_PINS, `limits.maxPins.${kind}`, 0, MAX_PINS)
}
