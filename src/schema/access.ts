import type { Id } from './ids.ts'

/** A kind of object of the host. */
export type HostThing = 'user' | 'organization' | 'repository' | 'issue'

/** A request for access, as each service has its own. */
interface AnyRequest {
  readonly action: string
}

/** The least role to which `rolePolicy` allows an action. It depends on the object that the request names. */
type LeastRole<Request extends AnyRequest> =
  | 'site admin'
  | (Request extends { readonly repositoryId: Id } ? 'repository reader' | 'repository admin' : never)
  | (Request extends { readonly organizationId: Id } ? 'organization owner' : never)
  | (Request extends { readonly userId: Id } ? 'the user' : never)

/** The request that an action is part of. */
type RequestFor<A extends string, R extends AnyRequest> = R extends AnyRequest
  ? A extends R['action']
    ? R
    : never
  : never

/** What the library knows about an action before it asks the policy. */
export interface ActionFact<Request extends AnyRequest = AnyRequest> {
  /** The kind of object that the request concerns. If the policy conceals the object, the error is its `*_NOT_FOUND`. */
  readonly concerns: HostThing | undefined
  /** The least role to which `rolePolicy` allows the action. Site admins may do everything. */
  readonly allows: LeastRole<Request>
}

/** What the library knows about the actions of some requests. */
export type ActionFacts<Request extends AnyRequest> = {
  readonly [A in Request['action']]: ActionFact<RequestFor<A, Request>>
}

/** The decision of a policy. With `conceal` the response is 404, as if the object did not exist. */
export type AccessDecision =
  | { readonly allow: true }
  | { readonly allow: false; readonly reason: string; readonly conceal?: boolean | undefined }
