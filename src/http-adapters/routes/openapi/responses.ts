import type { ErrorCode } from '../error-status.ts'
import type { JsonSchema } from '../json-schema.ts'
import { refTo } from '../json-schema.ts'
import { jsonType } from '../reply.ts'
import type { ReplyHeader } from '../reply-headers.ts'
import type { Answer, Route } from '../route.ts'
import { errorHeaders, routeErrors } from '../route-errors.ts'
import type { ErrorJson } from '../wire/error-json.ts'
import { errorJson } from '../wire/error-json.ts'
import { errorMeanings } from './error-meanings.ts'

/** One reply of an operation, as documents say it. */
export interface Response {
  readonly description: string
  readonly headers: Readonly<Record<string, { readonly $ref: string }>>
  readonly content?: Readonly<Record<string, { readonly schema: JsonSchema; readonly example?: object }>>
}

/** Every reply of a route, by status: what it answers, and every error that it may answer with. */
export function responsesOf(route: Route): Readonly<Record<string, Response>> {
  const answers = [route.reply, ...(route.reply.others ?? [])].map(
    (answer) => [answer.status, answered(answer)] as const,
  )
  const all = routeErrors(route)
  const errors = [...new Set(all.map(({ status }) => status))].map((status) => {
    const codes = all.filter((error) => error.status === status).map(({ code }) => code)
    return [status, refused(status, [...new Set(codes)])] as const
  })
  return Object.fromEntries([...answers, ...errors])
}

function answered({ description, body, headers }: Answer): Response {
  return {
    description,
    headers: headerRefs(headers),
    ...(body && { content: { [body.type]: { schema: body.schema } } }),
  }
}

function refused(status: number, codes: readonly ErrorCode[]): Response {
  const code: JsonSchema = { type: 'string', enum: codes }
  return {
    description: codes.map((one) => `\`${one}\`: ${errorMeanings[one]}`).join('\n\n'),
    headers: headerRefs(errorHeaders(status)),
    content: {
      [jsonType]: {
        schema: { allOf: [refTo('Error'), { type: 'object', properties: { code } }] },
        ...(codes[0] && { example: exampleOf(codes[0]) }),
      },
    },
  }
}

function exampleOf(code: ErrorCode): ErrorJson {
  return errorJson(code, errorMeanings[code].replace(/;.*/, ''), '')
}

function headerRefs(names: readonly ReplyHeader[]): Response['headers'] {
  const all: readonly ReplyHeader[] = ['Cache-Control', 'X-Content-Type-Options', ...names]
  return Object.fromEntries(all.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
