/** One thing a Standard Schema refuses a value for. */
export interface SchemaIssue {
  readonly message: string
  /** Property names and array indexes from the value down to the fault; absent means the value itself. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** What a Standard Schema answers: the value, or what is wrong with it, the first 100 faults. */
export type SchemaResult<T> =
  | { readonly value: T; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

/** A schema for any library that takes Standard Schema version 1, described by its structure. It answers at once, never with a promise. */
export interface Schema<T> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    /** Checks a value; it is not changed. */
    readonly validate: (value: unknown) => SchemaResult<T>
    /** For type inference only; never there at run time. */
    readonly types?: { readonly input: unknown; readonly output: T } | undefined
  }
}
