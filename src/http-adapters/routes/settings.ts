import type { ForgeInternals } from '../../core/forge.ts'
import type { Actor } from '../../core/ports.ts'
import type { ServiceName } from '../../core/services.ts'
import type { Directory, IssueDocuments, Presenter } from './ports.ts'

/** How callers authenticate: with a token in a header, or with a session that they have signed in to (a cookie). */
export type CredentialKind = 'token' | 'session'

/** The checked options of an API, with every default filled in, and what it takes from its forge. */
export interface Settings extends Pick<ForgeInternals, 'logger' | 'newId' | 'observe'> {
  readonly directory: Directory<Actor>
  readonly present: Presenter<Actor>
  /** Has no trailing slash. */
  readonly publicUrl: string | undefined
  /** `""` if unknown. */
  readonly docsUrl: string
  readonly credentials: CredentialKind
  readonly services: ReadonlySet<ServiceName>
  /** Defined if the API has the service `exchange`. */
  readonly documents: IssueDocuments | undefined
  readonly limits: FilledApiLimits
  readonly forgejoPaths: boolean
}

/** Limits of the HTTP API. */
export interface ApiLimits {
  /**
   * The number of items on a page if the request does not set one. Default: 30, or `maxPageSize` if that is smaller.
   */
  readonly defaultPageSize?: number | undefined
  /** The maximum number of items on a page, from 1 to 1,000. Default: 50. */
  readonly maxPageSize?: number | undefined
  /** The maximum size of a request body in bytes. Default: 1,048,576 (1 MiB). */
  readonly maxBodyBytes?: number | undefined
  /** The maximum size of an import in bytes, also after decompression. Default: 67,108,864 (64 MiB). */
  readonly maxImportBytes?: number | undefined
  /**
   * The maximum size of one record of an import in bytes, up to 268,435,456. Default: 2,097,152 (2 MiB). An item of YAML
   * has 1 MiB at most.
   */
  readonly maxRecordBytes?: number | undefined
  /** How many exports an API sends at once. More are refused: 503 `EXCHANGE_BUSY`. Default: 8. */
  readonly maxExports?: number | undefined
  /** How many imports and dry runs of imports an API runs at once. More are refused: 503 `EXCHANGE_BUSY`. Default: 4. */
  readonly maxImports?: number | undefined
}

/** The limits of an API with every default filled in. */
export type FilledApiLimits = { readonly [K in keyof ApiLimits]-?: number }
