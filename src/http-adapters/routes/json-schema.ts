/** The subset of JSON Schema (draft 2020-12) that describes requests and responses. */
export interface JsonSchema {
  /** Another schema of the same document: `#/components/schemas/User`. */
  readonly $ref?: string
  readonly type?: JsonType | readonly JsonType[]
  readonly format?: 'int64' | 'date-time' | 'email' | 'uri'
  readonly description?: string
  readonly enum?: readonly (string | number)[]
  readonly default?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly items?: JsonSchema
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly additionalProperties?: boolean
  readonly allOf?: readonly JsonSchema[]
  readonly anyOf?: readonly JsonSchema[]
  readonly examples?: readonly unknown[]
}

type JsonType = 'object' | 'array' | 'string' | 'integer' | 'boolean' | 'null'

/** The names of the schemas that an API document shares. The files with the inputs, replies and errors define them. */
export type SchemaName =
  | 'Badge'
  | 'BadgeSlugs'
  | 'Error'
  | 'Issue'
  | 'PinsAllowed'
  | 'PullRequest'
  | 'User'
  | 'Violation'

/** A reference to a shared schema. */
export function refTo(name: SchemaName): JsonSchema {
  return { $ref: `#/components/schemas/${name}` }
}

/** An array of items that a shared schema describes. */
export function listOf(name: SchemaName): JsonSchema {
  return { type: 'array', items: refTo(name) }
}
