/** A kind of object of the host. */
export type HostThing = 'user' | 'organization' | 'repository' | 'issue'

/** The least role to which `rolePolicy` allows an action: in the repository or the organization that the request names. */
type LeastRole = 'site admin' | 'organization owner' | 'repository admin' | 'repository reader' | 'the user'

/** What the library knows about an action before it asks the policy. */
interface ActionFact {
  /** The kind of object that the request concerns. If the policy conceals the object, the error is its `*_NOT_FOUND`. */
  readonly concerns: HostThing | undefined
  /** The least role to which `rolePolicy` allows the action. Site admins may do everything. */
  readonly allows: LeastRole
}

/** What the library knows about the actions of some requests. */
export type ActionFacts<Request extends { readonly action: string }> = {
  readonly [A in Request['action']]: ActionFact
}

/** The decision of a policy. With `conceal` the response is 404, as if the object did not exist. */
export type AccessDecision =
  | { readonly allow: true }
  | { readonly allow: false; readonly reason: string; readonly conceal?: boolean | undefined }
