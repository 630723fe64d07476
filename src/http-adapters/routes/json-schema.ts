/** The subset of JSON Schema (draft 2020-12) that describes requests and responses. */
export interface JsonSchema {
  /** Another schema of the same document: `#/components/schemas/User`. */
  readonly $ref?: string
  readonly type?: JsonType | readonly JsonType[]
  readonly format?: 'int64' | 'date-time' | 'email' | 'uri'
  readonly description?: string
  readonly enum?: readonly (string | number)[]
  readonly default?: number | string | boolean
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

/** A reference to a schema that a service defines by this name. */
export function refTo(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` }
}

/** An array of items that a shared schema describes. */
export function listOf(name: string): JsonSchema {
  return { type: 'array', items: refTo(name) }
}
