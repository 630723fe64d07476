import type { JsonSchema } from '../json-schema.ts'
import type { Input, Parameter, Route } from '../route.ts'
import type { Settings } from '../settings.ts'
import type { Response } from './responses.ts'
import { responsesOf } from './responses.ts'
import { securityOf } from './security.ts'

type Limits = Settings<never>['limits']

/** One row of the route table, as documents say it. */
export interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly tags: readonly string[]
  readonly security: readonly object[]
  readonly parameters?: readonly object[]
  readonly requestBody?: RequestBody
  readonly responses: Readonly<Record<string, Response>>
}

interface RequestBody {
  readonly required: true
  readonly description: string
  readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>>
}

/** Describes one row of the route table. */
export function operationOf(route: Route, limits: Limits): Operation {
  const inputs = Object.values(route.inputs)
  const parameters = [...inputs.flatMap((input) => input.parameters), ...(route.reply.parameters ?? [])]
  const body = inputs.find((input) => input.body !== undefined)?.body
  return {
    operationId: route.operationId,
    summary: route.summary,
    tags: [route.service],
    security: securityOf(route),
    ...(parameters.length > 0 && { parameters: parameters.map((parameter) => described(parameter, limits)) }),
    ...(body && { requestBody: requestBody(body, limits) }),
    responses: responsesOf(route),
  }
}

function described({ name, in: place, schema, description }: Parameter, limits: Limits): object {
  return {
    name,
    in: place,
    required: place === 'path',
    description,
    schema: typeof schema === 'function' ? schema(limits) : schema,
  }
}

function requestBody({ description, schema }: NonNullable<Input<unknown>['body']>, limits: Limits): RequestBody {
  return {
    required: true,
    description: `${description}; at most ${limits.maxBodyBytes} bytes, read as JSON whatever the content type`,
    content: { 'application/json': { schema } },
  }
}
