/** A JSON Schema (draft 2020-12), in the words that describe the wire. */
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

/** The names of the schemas that an API document shares; the wire files hold them. */
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

/** A list of what a shared schema describes. */
export function listOf(name: SchemaName): JsonSchema {
  return { type: 'array', items: refTo(name) }
}
