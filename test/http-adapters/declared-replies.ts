import assert from 'node:assert/strict'
import type { ValidateFunction } from 'ajv/dist/2020.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Match, Method, Routed } from '../../src/http-adapters/routes/router.ts'
import { createRouter } from '../../src/http-adapters/routes/router.ts'
import type { Reply } from '../http.ts'
import type { Send } from './run-case.ts'

/** A request and its reply, as a client sees them. */
export interface Exchanged extends Reply {
  readonly method: string
  /** Below the mount point; a query does not matter. */
  readonly path: string
}

/** Sends requests, and holds every reply against an OpenAPI document. */
export function declaredBy(document: object, send: Send): Send {
  return async (sent) => {
    const reply = await send(sent)
    const undeclared = checkReply(document, { ...sent, ...reply })
    assert.deepEqual(undeclared, [], `schema/openapi.json must declare the reply: ${undeclared.join('; ')}`)
    return reply
  }
}

interface Declared {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation | undefined>>>>
  readonly components: {
    readonly headers?: Readonly<Record<string, Header>>
    readonly responses?: Readonly<Record<string, Response>>
  }
}

interface Operation {
  readonly operationId: string
  readonly responses: Readonly<Record<string, Response | Reference>>
}

interface Response {
  readonly headers?: Readonly<Record<string, Header | Reference>>
  readonly content?: Readonly<Record<string, { readonly schema?: object }>>
}

interface Header {
  readonly required?: boolean
  readonly schema: { readonly type?: unknown }
}

interface Reference {
  readonly $ref: string
}

/** What servers and adapters add by themselves to carry a message. */
const CARRIAGE: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'content-type', // checked with the content
  'date',
  'keep-alive',
  'transfer-encoding',
])

/**
 * Returns what of a reply an OpenAPI 3.1 document does not declare: its status, a header too many or missing, its content type,
 * a body that its schema refuses. What the description of the document says of every path is checked too: HEAD is GET
 * without the body, OPTIONS is 204 with `Allow`, another method 405 with `Allow`, another path 404.
 *
 * @returns one line for each; none when all is declared
 */
export function checkReply(document: object, exchanged: Exchanged): readonly string[] {
  // It is checked by the linter; only what is read of it is typed here.
  const api = document as Declared
  const match = matchIn(api, exchanged.method, exchanged.path)
  const response = responseFor(api, match, exchanged)
  const where = `${exchanged.method} ${match?.path ?? exchanged.path}: `
  if (response === undefined) return [`${where}the status ${exchanged.status} is not declared`]

  const wrong = [...wrongHeaders(api, response, exchanged), ...wrongContent(api, response, exchanged)]
  return wrong.map((line) => `${where}${exchanged.status} ${line}`)
}

/** The id of the operation that a request calls, of which HEAD calls that of GET. Undefined: none. */
export function operationIdOf(document: object, method: string, path: string): string | undefined {
  return matchIn(document as Declared, method, path)?.route?.operation.operationId
}

interface Row extends Routed {
  readonly operation: Operation
}

/** The path of the document that a path is one of. Undefined: not one of them. */
function matchIn(api: Declared, method: string, path: string): Match<Row> | undefined {
  const router = routers.get(api) ?? createRouter(rowsOf(api))
  routers.set(api, router)
  return router(method, path.replace(/\?.*/s, ''))
}

function rowsOf({ paths }: Declared): readonly Row[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]) =>
      operation === undefined ? [] : [{ path, method: method.toUpperCase() as Method, operation }],
    ),
  )
}

function responseFor(api: Declared, match: Match<Row> | undefined, exchanged: Exchanged): Response | undefined {
  const { method, status } = exchanged
  if (match?.values === undefined) return status === 404 ? generalError('ROUTE_NOT_FOUND') : undefined
  if (match.route !== undefined) return resolved(api, match.route.operation.responses[String(status)])

  const allow = { Allow: { required: true, schema: { type: 'string', enum: [match.allow] } as { type: string } } }
  if (method === 'OPTIONS') return status === 204 ? { headers: { ...ALWAYS, ...allow } } : undefined
  return status === 405 ? generalError('METHOD_NOT_ALLOWED', allow) : undefined
}

const ALWAYS = {
  'Cache-Control': { $ref: '#/components/headers/Cache-Control' },
  'X-Content-Type-Options': { $ref: '#/components/headers/X-Content-Type-Options' },
}

function generalError(code: string, headers: Response['headers'] = {}): Response {
  const schema = { allOf: [{ $ref: '#/components/schemas/Error' }, { properties: { code: { const: code } } }] }
  return { headers: { ...ALWAYS, ...headers }, content: { 'application/json;charset=utf-8': { schema } } }
}

function wrongHeaders(api: Declared, { headers = {} }: Response, exchanged: Exchanged): readonly string[] {
  const declared = new Map(Object.entries(headers).map(([name, header]) => [name.toLowerCase(), header]))
  const tooMany = [...exchanged.headers.keys()].filter((name) => !declared.has(name) && !CARRIAGE.has(name))
  const wrong = [...declared].flatMap(([name, header]) => wrongHeader(api, name, header, exchanged))
  return [...tooMany.map((name) => `has the header ${name}, which is not declared`), ...wrong]
}

function wrongHeader(
  api: Declared,
  name: string,
  declared: Header | Reference,
  { headers }: Exchanged,
): readonly string[] {
  const header = '$ref' in declared ? api.components.headers?.[lastOf(declared)] : declared
  if (header === undefined) return [`refers to ${JSON.stringify(declared)}, which is not there`]

  const text = headers.get(name)
  if (text === undefined || text === null) return header.required === true ? [`lacks the header ${name}`] : []
  const value = header.schema.type === 'integer' && /^\d+$/.test(text) ? Number(text) : text
  return wrongValue(api, header.schema, value).map((line) => `has the header ${name}: ${text}, which ${line}`)
}

function wrongContent(
  api: Declared,
  { content }: Response,
  { method, path, headers, text }: Exchanged,
): readonly string[] {
  const type = headers.get('content-type') ?? undefined
  if (content === undefined) {
    const untold = [...(text === '' ? [] : ['a body']), ...(type === undefined ? [] : [`the content type ${type}`])]
    return untold.map((what) => `has ${what}, and no content is declared`)
  }

  const declared = type === undefined ? undefined : content[type]
  if (declared === undefined) return [`has the content type ${type ?? 'none'}, which is not declared`]
  if (method === 'HEAD') return wrongHead(path, headers, text)
  return wrongBody(api, declared.schema, text, type?.startsWith('application/json') === true)
}

function wrongHead(path: string, headers: Exchanged['headers'], text: string): readonly string[] {
  if (text !== '') return ['has a body, and was asked by HEAD']
  if (/\/export\/?(?:\?|$)/.test(path)) return [] // the length of what is streamed is not known
  return headers.has('content-length') ? [] : ['lacks the content-length of what GET gives']
}

function wrongBody(api: Declared, schema: object | undefined, text: string, isJson: boolean): readonly string[] {
  if (schema === undefined) return ['is declared without a schema']
  if (!isJson) return wrongValue(api, schema, text).map((line) => `has a text that ${line}`)

  try {
    return wrongValue(api, schema, JSON.parse(text)).map((line) => `has a body that ${line}`)
  } catch {
    return [`has a body that is not JSON: ${text.slice(0, 80)}`]
  }
}

function wrongValue(api: Declared, schema: object, value: unknown): readonly string[] {
  const validate = validatorOf(api, schema)
  if (validate(value)) return []
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `at "${instancePath}" ${message} (${JSON.stringify(params)})`,
  )
}

function validatorOf(api: Declared, schema: object): ValidateFunction {
  const known = validators.get(api) ?? new Map<string, ValidateFunction>()
  validators.set(api, known)
  const key = JSON.stringify(schema)
  const validator = known.get(key) ?? ajv.compile({ ...schema, components: api.components })
  known.set(key, validator)
  return validator
}

const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/
const FORMATS = { int64: { type: 'number', validate: Number.isInteger }, 'date-time': RFC_3339 } as const
const routers = new WeakMap<Declared, ReturnType<typeof createRouter<Row>>>()
const ajv = new Ajv2020({ allErrors: true, strict: false, formats: FORMATS })
/** Those of each document: making one takes 50 ms. */
const validators = new WeakMap<Declared, Map<string, ValidateFunction>>()

function resolved(api: Declared, response: Response | Reference | undefined): Response | undefined {
  if (response === undefined || !('$ref' in response)) return response
  return api.components.responses?.[lastOf(response)]
}

function lastOf({ $ref }: Reference): string {
  return $ref.split('/').at(-1) ?? ''
}
