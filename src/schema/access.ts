import type { Id } from './ids.ts'

/**
 * One request for access: an action and the object it applies to. A policy must refuse an action that it does not know.
 */
export type AccessRequest =
  | { readonly action: 'pins.read' | 'pins.write'; readonly repositoryId: Id }
  | { readonly action: 'blocks.read' | 'blocks.write'; readonly organizationId: Id }
  | {
      readonly action: 'badges.read' | 'badges.grant'
      /** Undefined: the request is about any user. It is made before the user's name is looked up. */
      readonly userId?: Id | undefined
    }
  | { readonly action: 'badges.catalogue.read' | 'badges.catalogue.write' }
  | { readonly action: 'signing-keys.read'; readonly repositoryId: Id }
  | { readonly action: 'events.read' }
  | { readonly action: 'issues.import' | 'issues.export'; readonly repositoryId: Id }

/** The name of an action that a policy can allow or refuse. */
export type Action = AccessRequest['action']

/** The decision of a policy. With `conceal` the response is 404, as if the object did not exist. */
export type AccessDecision =
  | { readonly allow: true }
  | { readonly allow: false; readonly reason: string; readonly conceal?: boolean | undefined }
