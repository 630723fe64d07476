import type { ObservedRequest } from '../../core/observer.ts'
import type { Actor, Logger } from '../../core/ports.ts'
import type { ServiceName } from '../../core/services.ts'
import type { FilledApiLimits } from './limits.ts'
import type { Directory, IssueDocuments, Presenter } from './ports.ts'

/** How callers authenticate: with a token in a header, or with a session that they have signed in to (a cookie). */
export type CredentialKind = 'token' | 'session'

/** The checked options of an API, with every default filled in, and what it takes from its forge. */
export interface Settings<A extends Actor> {
  readonly directory: Directory<A>
  readonly present: Presenter<A>
  /** Never throws. */
  readonly logger: Logger
  readonly newId: () => string
  /** Never throws. */
  readonly observe: ((request: ObservedRequest) => void) | undefined
  /** Has no trailing slash. */
  readonly publicUrl: string | undefined
  /** `""` if unknown. */
  readonly docsUrl: string
  readonly credentials: CredentialKind
  readonly services: ReadonlySet<ServiceName>
  /** Defined if the API has the service `exchange`. */
  readonly documents: IssueDocuments | undefined
  readonly limits: FilledApiLimits
}
