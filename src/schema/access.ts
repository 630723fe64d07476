import type { Id } from './ids.ts'

/** One request for access: an action, and the thing it is about. A policy that meets an action it does not know refuses it. */
export type AccessRequest =
  | { readonly action: 'pins.read' | 'pins.write'; readonly repositoryId: Id }
  | { readonly action: 'blocks.read' | 'blocks.write'; readonly organizationId: Id }
  | {
      readonly action: 'badges.read' | 'badges.grant'
      /** Undefined: about any user, asked before the name is looked up. */
      readonly userId?: Id | undefined
    }
  | { readonly action: 'badges.catalogue.read' | 'badges.catalogue.write' }
  | { readonly action: 'signing-keys.read'; readonly repositoryId: Id }
  | { readonly action: 'events.read' }
  | { readonly action: 'issues.import' | 'issues.export'; readonly repositoryId: Id }

/** One string per thing that can be refused. */
export type Action = AccessRequest['action']

/** A policy's answer. `conceal` answers 404, as if the thing did not exist. */
export type AccessDecision =
  | { readonly allow: true }
  | { readonly allow: false; readonly reason: string; readonly conceal?: boolean | undefined }
