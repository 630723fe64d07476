import type { MaybePromise, SyncOrAsync } from '../schema/sync-or-async.ts'
import { BadgeServiceMethods } from './badges/badge-service.ts'
import { CatalogueServiceMethods } from './badges/catalogue-service.ts'
import { BlockServiceMethods } from './blocks/block-service.ts'
import type { OpenCall } from './call.ts'
import type { Environment } from './environment.ts'
import { LifecycleServiceMethods } from './lifecycle/lifecycle-service.ts'
import { PinServiceMethods } from './pins/pin-service.ts'
import type { Actor } from './ports.ts'
import type { MaybeAsync, Sync, TransactionServices } from './services.ts'
import { SigningKeyServiceMethods } from './signing-keys/signing-key-service.ts'

/** Runs one method of a service: `runAsync`, `runSync`, `runMaybeAsync`, or a function that calls one of them. */
type Run = <T>(steps: SyncOrAsync<T>) => MaybePromise<T>

/** Binds the services to functions that open and run their calls. A service method returns what `run` returns. */
export interface BindServices<A extends Actor, Tx> {
  (open: OpenCall<A, Tx>, run: <T>(steps: SyncOrAsync<T>) => Promise<T>): TransactionServices<A>
  (open: OpenCall<A, Tx>, run: <T>(steps: SyncOrAsync<T>) => T): Sync<TransactionServices<A>>
  (open: OpenCall<A, Tx>, run: Run): MaybeAsync<TransactionServices<A>>
}

/** Creates the methods of all services for one environment, and returns the function that binds them. */
export function servicesOf<A extends Actor, Tx>(environment: Environment<A, Tx>): BindServices<A, Tx> {
  const pins = new PinServiceMethods(environment)
  const blocks = new BlockServiceMethods(environment)
  const badges = new BadgeServiceMethods(environment)
  const catalogue = new CatalogueServiceMethods(environment)
  const signingKeys = new SigningKeyServiceMethods(environment)
  const lifecycle = new LifecycleServiceMethods(environment)

  function bind(open: OpenCall<A, Tx>, run: <T>(steps: SyncOrAsync<T>) => Promise<T>): TransactionServices<A>
  function bind(open: OpenCall<A, Tx>, run: <T>(steps: SyncOrAsync<T>) => T): Sync<TransactionServices<A>>
  function bind(open: OpenCall<A, Tx>, run: Run): MaybeAsync<TransactionServices<A>>
  // Each method returns what `run` returns. Overloads state this, because a type parameter cannot.
  function bind(
    open: OpenCall<A, Tx>,
    run: Run,
  ): TransactionServices<A> | Sync<TransactionServices<A>> | MaybeAsync<TransactionServices<A>> {
    const services: MaybeAsync<TransactionServices<A>> = {
      pins: {
        pin: (caller, issue, options) => run(pins.pin(open(caller, options), issue)),
        unpin: (caller, issue, options) => run(pins.unpin(open(caller, options), issue)),
        move: (caller, target, options) => run(pins.move(open(caller, options), target)),
        list: (caller, board, options) => run(pins.list(open(caller, options), board)),
        allowed: (caller, repositoryId, options) => run(pins.allowed(open(caller, options), repositoryId)),
        history: (caller, issue, options) => run(pins.history(open(caller, options), issue)),
      },
      blocks: {
        block: (caller, target, options) => run(blocks.block(open(caller, options), target)),
        unblock: (caller, target, options) => run(blocks.unblock(open(caller, options), target)),
        find: (caller, target, options) => run(blocks.find(open(caller, options), target)),
        list: (caller, request, options) => run(blocks.list(open(caller, options), request)),
        filterBlocked: (candidates) => run(blocks.filterBlocked(open('system', undefined), candidates)),
      },
      badges: {
        grant: (caller, grants, options) => run(badges.grant(open(caller, options), grants)),
        revoke: (caller, grants, options) => run(badges.revoke(open(caller, options), grants)),
        heldBy: (caller, userId, options) => run(badges.heldBy(open(caller, options), userId)),
        catalogue: {
          define: (caller, badge, options) => run(catalogue.define(open(caller, options), badge)),
          update: (caller, change, options) => run(catalogue.update(open(caller, options), change)),
          remove: (caller, slug, options) => run(catalogue.remove(open(caller, options), slug)),
          find: (caller, slug, options) => run(catalogue.find(open(caller, options), slug)),
          list: (caller, page, options) => run(catalogue.list(open(caller, options), page)),
        },
      },
      signingKeys: {
        publicKey: (caller, request, options) => run(signingKeys.publicKey(open(caller, options), request)),
      },
      lifecycle: {
        userDeleted: (userId) => run(lifecycle.userDeleted(open('system', undefined), userId)),
        organizationDeleted: (id) => run(lifecycle.organizationDeleted(open('system', undefined), id)),
        repositoryDeleted: (id) => run(lifecycle.repositoryDeleted(open('system', undefined), id)),
        issueDeleted: (issue) => run(lifecycle.issueDeleted(open('system', undefined), issue)),
        memberAdded: (member) => run(lifecycle.memberAdded(open('system', undefined), member)),
      },
    }
    return services
  }

  return bind
}
