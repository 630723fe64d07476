import type { Id } from './ids.ts'
import type { HostThing } from './records.ts'

/**
 * One request for access: an action and the object it applies to. A policy must refuse an action that it does not know.
 */
export type AccessRequest =
  | { readonly action: 'pins.read' | 'pins.write'; readonly repositoryId: Id }
  | { readonly action: 'blocks.read' | 'blocks.write'; readonly organizationId: Id }
  | {
      readonly action: 'user-blocks.read' | 'user-blocks.write'
      /** The user whose blocks are read or changed: who blocks. */
      readonly userId: Id
    }
  | {
      readonly action: 'badges.read' | 'badges.grant'
      /** Undefined: the request is about any user. It is made before the user's name is looked up. */
      readonly userId?: Id | undefined
    }
  | { readonly action: 'badges.catalogue.read' | 'badges.catalogue.write' }
  | { readonly action: 'signing-keys.read'; readonly repositoryId: Id }
  | { readonly action: 'issues.export' | 'issues.import' | 'issues.attribute'; readonly repositoryId: Id }
  | { readonly action: 'events.read' }

/** The name of an action that a policy can allow or refuse. */
export type Action = AccessRequest['action']

/** The least role to which `rolePolicy` allows an action. It depends on the object that the request names. */
type LeastRole<Request extends AccessRequest> =
  | 'site admin'
  | (Request extends { readonly repositoryId: Id } ? 'repository reader' | 'repository admin' : never)
  | (Request extends { readonly organizationId: Id } ? 'organization owner' : never)
  | (Request extends { readonly userId: Id } ? 'the user' : never)

/** The request that an action is part of. */
type RequestFor<A extends Action, R extends AccessRequest = AccessRequest> = R extends AccessRequest
  ? A extends R['action']
    ? R
    : never
  : never

/** What the library knows about an action before it asks the policy. */
export interface ActionFacts<Request extends AccessRequest = AccessRequest> {
  /** The kind of object that the request concerns. If the policy conceals the object, the error is its `*_NOT_FOUND`. */
  readonly concerns: HostThing | undefined
  /** The least role to which `rolePolicy` allows the action. Site admins may do everything. */
  readonly allows: LeastRole<Request>
}

/** The facts of every action. A new action does not compile until it is here. Source: docs/behaviour.md, Everywhere */
export const actionFacts: { readonly [A in Action]: ActionFacts<RequestFor<A>> } = {
  'pins.read': { concerns: 'repository', allows: 'repository reader' },
  'pins.write': { concerns: 'repository', allows: 'repository admin' },
  'blocks.read': { concerns: 'organization', allows: 'organization owner' },
  'blocks.write': { concerns: 'organization', allows: 'organization owner' },
  'user-blocks.read': { concerns: 'user', allows: 'the user' },
  'user-blocks.write': { concerns: 'user', allows: 'the user' },
  'badges.read': { concerns: 'user', allows: 'site admin' },
  'badges.grant': { concerns: 'user', allows: 'site admin' },
  'badges.catalogue.read': { concerns: undefined, allows: 'site admin' },
  'badges.catalogue.write': { concerns: undefined, allows: 'site admin' },
  'signing-keys.read': { concerns: 'repository', allows: 'repository reader' },
  'issues.export': { concerns: 'repository', allows: 'repository reader' },
  'issues.import': { concerns: 'repository', allows: 'repository admin' },
  // An import must not put words into other people's mouths.
  'issues.attribute': { concerns: 'repository', allows: 'site admin' },
  'events.read': { concerns: undefined, allows: 'site admin' },
}

/** The decision of a policy. With `conceal` the response is 404, as if the object did not exist. */
export type AccessDecision =
  | { readonly allow: true }
  | { readonly allow: false; readonly reason: string; readonly conceal?: boolean | undefined }
