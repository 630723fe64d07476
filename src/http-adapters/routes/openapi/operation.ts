import type { Action } from '../../../schema/access.ts'
import type { ErrorJson } from '../error-json.ts'
import { errorJson } from '../error-json.ts'
import type { ErrorCode } from '../error-status.ts'
import type { JsonSchema } from '../json-schema.ts'
import { refTo } from '../json-schema.ts'
import { jsonType } from '../reply.ts'
import type { ReplyHeader } from '../reply-headers.ts'
import type { Input, Parameter, ResponseSpec, Route } from '../route.ts'
import { errorHeaders, routeErrors } from '../route-errors.ts'
import type { Settings } from '../settings.ts'

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

function requestBody({ description, schema }: NonNullable<Input<unknown>['body']>, limits: Limits): RequestBody {
  return {
    required: true,
    description: `${description}; at most ${limits.maxBodyBytes} bytes, read as JSON whatever the content type`,
    content: { 'application/json': { schema } },
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
    description: 'The word `token`, a blank and the token, sent as `Authorization: token TOKEN`',
  },
  basic: {
    type: 'http',
    scheme: 'basic',
    description: 'The token as user name or as password; not for changes that pages of other sites ask for',
  },
} as const

/** The actions that a policy may allow an anonymous caller. Source: docs/behaviour.md, Over HTTP */
const OPEN: ReadonlySet<Action> = new Set(['pins.read', 'signing-keys.read'])

type Requirement = Readonly<Partial<Record<keyof typeof securitySchemes, readonly string[]>>>

const SIGNED_IN: readonly Requirement[] = [{ bearer: [] }, { token: [] }, { basic: [] }]

/** The credentials that a route accepts: any one of these. */
function securityOf(route: Route): readonly Requirement[] {
  return isOpen(route) ? [...SIGNED_IN, {}] : SIGNED_IN
}

/** Whether a route may answer without a credential, if the policy allows it. */
function isOpen({ inputs }: Route): boolean {
  const actions = Object.values(inputs).flatMap((input) => input.action ?? [])
  return actions.every((action) => OPEN.has(action))
}

/** The meaning of each error code, for API documents. A new code does not compile until it has a text here. */
const errorMeanings: Readonly<Record<ErrorCode, string>> = {
  UNAUTHENTICATED: 'a credential is needed',
  INVALID_CREDENTIALS: 'the credential is wrong',
  FORBIDDEN: 'the caller may not do this',
  USER_NOT_FOUND: 'there is no such user',
  ORGANIZATION_NOT_FOUND: 'there is no such organization, or the caller may not see it',
  REPOSITORY_NOT_FOUND: 'there is no such repository, or the caller may not see it',
  ISSUE_NOT_FOUND: 'there is no such issue or pull request',
  INVALID_INPUT: 'something in the request is not what it should be; `violations` names it',
  PIN_LIMIT_REACHED: 'as many are pinned as may be',
  ISSUE_NOT_PINNED: 'it is not pinned',
  CANNOT_BLOCK_SELF: 'the user is the caller',
  CANNOT_BLOCK_MEMBER: 'the user is a member of the organization',
  CANNOT_BLOCK_ORGANIZATION: 'the name is that of an organization',
  ALREADY_BLOCKED: 'the user is blocked already',
  NOT_BLOCKED: 'the user is not blocked',
  UNKNOWN_BADGE: 'a slug is that of no badge; nothing was changed',
  BADGE_NOT_FOUND: 'there is no such badge',
  BADGE_EXISTS: 'there is a badge of that slug already',
  BADGE_IN_USE: 'a user holds the badge',
  NO_SIGNING_KEY: 'there is no signing key',
  SIGNING_KEY_FORMAT_MISMATCH: 'the signing key has the other format; the message names it',
  SIGNING_KEY_UNREADABLE: 'the signing key cannot be read',
  INVALID_DOCUMENT: 'the document is not what it should be; `violations` names what is wrong',
  IMPORT_CONFLICT: 'something of the document is there already, and differs',
  EVENTS_PRUNED: 'the events behind this cursor have been removed',
  STORAGE_BUSY: 'the database is busy: try again',
  STORAGE_UNAVAILABLE: 'the database is not available',
  SCHEMA_OUTDATED: 'the database has to be brought up to date first',
  SCHEMA_TOO_NEW: 'the database is that of a newer release',
  ROUTE_NOT_FOUND: 'the path cannot be decoded',
  METHOD_NOT_ALLOWED: 'the path does not have this method',
  BODY_TOO_LARGE: 'the body is longer than is taken',
  CROSS_SITE:
    'a browser sent it for another site, without an `Authorization` header of the scheme `Bearer` or `token`; Basic is not enough',
  INTERNAL: 'something broke; the log of the server has the entry that `requestId` names',
}
