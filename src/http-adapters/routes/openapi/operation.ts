import { actionFacts } from '../../../schema/access.ts'
import type { ErrorJson } from '../error-json.ts'
import { errorJson } from '../error-json.ts'
import type { ErrorCode } from '../error-status.ts'
import type { JsonSchema } from '../json-schema.ts'
import { refTo } from '../json-schema.ts'
import { jsonType } from '../reply.ts'
import type { ReplyHeader } from '../reply-headers.ts'
import type { Settings } from '../request-context.ts'
import type { BodyFacts, Parameter, ResponseSpec, Route } from '../route.ts'
import { errorHeaders, routeErrors } from '../route-errors.ts'

type Limits = Settings<never>['limits']

/** One route, as API documents describe it. */
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

/** Describes one route. */
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

function requestBody({ description, schema, types, limit = 'maxBodyBytes' }: BodyFacts, limits: Limits): RequestBody {
  const note = types === undefined ? ', parsed as JSON whatever the content type' : ''
  return {
    required: true,
    description: `${description}; at most ${limits[limit]} bytes${note}`,
    content: Object.fromEntries((types ?? ['application/json']).map((type) => [type, { schema }])),
  }
}

/** One response of an operation, as API documents describe it. */
export interface Response {
  readonly description: string
  readonly headers: Readonly<Record<string, { readonly $ref: string }>>
  readonly content?: Readonly<Record<string, { readonly schema: JsonSchema; readonly example?: object }>>
}

/** Every response of a route, by status: its successful responses and every error that it may answer with. */
function responsesOf(route: Route): Readonly<Record<string, Response>> {
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

function answered({ description, body, headers }: ResponseSpec): Response {
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

/** The ways to authenticate. The host decides which of them it accepts; Gitea's clients use these. */
export const securitySchemes = {
  bearer: { type: 'http', scheme: 'bearer', description: 'The token, which is sent as `Authorization: Bearer TOKEN`' },
  token: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: 'The word `token`, a space and the token, sent as `Authorization: token TOKEN`',
  },
  basic: {
    type: 'http',
    scheme: 'basic',
    description: 'The token as user name or as password; not accepted for changes that other sites request',
  },
} as const

type Requirement = Readonly<Partial<Record<keyof typeof securitySchemes, readonly string[]>>>

const SIGNED_IN: readonly Requirement[] = [{ bearer: [] }, { token: [] }, { basic: [] }]

/** The credentials that a route accepts: any one of these. */
function securityOf(route: Route): readonly Requirement[] {
  return isOpen(route) ? [...SIGNED_IN, {}] : SIGNED_IN
}

/** Whether a route may answer without a credential, if the policy allows it. */
function isOpen({ inputs }: Route): boolean {
  const actions = Object.values(inputs).flatMap((input) => input.action ?? [])
  return actions.every((action) => actionFacts[action].anonymous)
}

/** The meaning of each error code, for API documents. A new code does not compile until it has a text here. */
const errorMeanings: Readonly<Record<ErrorCode, string>> = {
  UNAUTHENTICATED: 'a credential is required',
  INVALID_CREDENTIALS: 'the credential is invalid',
  FORBIDDEN: 'the caller lacks permission',
  USER_NOT_FOUND: 'the user does not exist',
  ORGANIZATION_NOT_FOUND: 'the organization does not exist, or the caller may not see it',
  REPOSITORY_NOT_FOUND: 'the repository does not exist, or the caller may not see it',
  ISSUE_NOT_FOUND: 'the issue or pull request does not exist',
  INVALID_INPUT: 'the request is invalid; `violations` lists the causes',
  PIN_LIMIT_REACHED: 'the limit of pins is reached',
  ISSUE_NOT_PINNED: 'the issue or pull request is not pinned',
  CANNOT_BLOCK_SELF: 'the user is the caller',
  CANNOT_BLOCK_MEMBER: 'the user is a member of the organization',
  CANNOT_BLOCK_ORGANIZATION: 'the name belongs to an organization',
  ALREADY_BLOCKED: 'the user is already blocked',
  NOT_BLOCKED: 'the user is not blocked',
  UNKNOWN_BADGE: 'a slug belongs to no badge; nothing was changed',
  BADGE_NOT_FOUND: 'the badge does not exist',
  BADGE_EXISTS: 'a badge with that slug already exists',
  BADGE_IN_USE: 'a user holds the badge',
  NO_SIGNING_KEY: 'no signing key is configured',
  SIGNING_KEY_FORMAT_MISMATCH: 'the signing key has the other format; the message names it',
  SIGNING_KEY_UNREADABLE: 'the signing key cannot be read',
  EVENTS_PRUNED: 'the events after this cursor have been removed',
  INVALID_DOCUMENT: 'the document is invalid; `violations` lists the causes',
  IMPORT_CONFLICT: 'an issue of that number exists and differs, or a pull request has the number',
  STORAGE_BUSY: 'the database is busy: try again',
  STORAGE_UNAVAILABLE: 'the database is not available',
  SCHEMA_OUTDATED: 'the database must be migrated first',
  SCHEMA_TOO_NEW: 'the database belongs to a newer release',
  ROUTE_NOT_FOUND: 'the path cannot be decoded',
  METHOD_NOT_ALLOWED: 'the path does not have this method',
  BODY_TOO_LARGE: 'the body is too large',
  CROSS_SITE:
    'a browser sent the request for another site without an `Authorization` header of the scheme `Bearer` or `token`; Basic is not sufficient',
  EXCHANGE_BUSY: 'as many exports or imports are running as the server allows: try again',
  INTERNAL: 'an unexpected failure; `requestId` identifies the entry in the log of the server',
}
