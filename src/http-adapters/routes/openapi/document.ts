import { errorSchema, violationSchema } from '../error-json.ts'
import type { JsonSchema } from '../json-schema.ts'
import { replyHeaders } from '../reply-headers.ts'
import type { Settings } from '../request-context.ts'
import type { Route } from '../route.ts'
import { routeTable, serviceRoutes } from '../route-table.ts'
import type { Operation } from './operation.ts'
import { operationOf, securitySchemes } from './operation.ts'

/** The release that the document describes. A test checks that it equals the version of the package. */
const VERSION = '0.1.0'

const DESCRIPTION = `Services of a code forge, compatible with the Gitea API.

Every error is JSON with a \`message\` for people and a \`code\` for programs. The first failing check determines the error: a wrong
credential, a repository or organization that the caller may not see, a missing credential, a role that is not enough,
another name in the path, the input, the rule.

Every path that has GET answers HEAD too, as GET without the body, and every path answers OPTIONS with 204 and \`Allow\`;
they have no entries here. Any other method is 405 \`METHOD_NOT_ALLOWED\` with \`Allow\`, any other path 404 \`ROUTE_NOT_FOUND\`.`

/** The settings that a document depends on. */
export type DocumentSettings = Pick<Settings<never>, 'publicUrl' | 'services' | 'limits'>

/**
 * Builds the OpenAPI 3.1 document of the mounted routes. Its description covers HEAD and OPTIONS, which are not listed
 * as operations: two dozen nearly identical operations would hide those that people and generated clients call.
 *
 * Without a public address, the server is the address of the document. That is right for a document at `openapi.json`
 * below the mount point.
 */
export function openApiDocument({ publicUrl, services, limits }: DocumentSettings): OpenApiDocument {
  const rows = routeTable.filter((row) => services.has(row.service))
  const paths = pathsOf(rows, limits)
  const document = {
    openapi: '3.1.0',
    info: {
      title: 'forgelet',
      version: VERSION,
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: publicUrl ?? '.' }],
    tags: Object.entries(serviceRoutes)
      .filter(([name]) => rows.some((row) => row.service === name))
      .map(([name, { description }]) => ({ name, description })),
    paths,
    components: componentsFor(paths),
  }
  return JSON.parse(JSON.stringify(document)) // a copy: a host that changes it does not change the original
}

type PathItem = Readonly<Record<string, Operation>>

function pathsOf(rows: readonly Route[], limits: Settings<never>['limits']): Readonly<Record<string, PathItem>> {
  const all = [...new Set(rows.map((row) => row.path))]
  return Object.fromEntries(
    all.map((path) => [
      path,
      pathItem(
        rows.filter((row) => row.path === path),
        limits,
      ),
    ]),
  )
}

function pathItem(rows: readonly Route[], limits: Settings<never>['limits']): PathItem {
  return Object.fromEntries(rows.map((row) => [row.method.toLowerCase(), operationOf(row, limits)]))
}

/** The parts of an OpenAPI 3.1 document that do not depend on what is mounted. Hosts may change all of it. */
export interface OpenApiDocument {
  openapi: string
  info: { title: string; version: string; description: string; license: object }
  servers: { url: string; description?: string }[]
  tags: { name: string; description: string }[]
  /** By path, then by method in lower case. */
  paths: Record<string, Record<string, OpenApiOperation>>
  components: {
    securitySchemes: Record<string, object>
    headers: Record<string, object>
    schemas: Record<string, object>
  }
}

/** One operation of an OpenAPI document. */
export interface OpenApiOperation {
  operationId: string
  summary: string
  tags: string[]
  /** Any one of these suffices; `{}` stands for an anonymous caller. */
  security: Record<string, string[]>[]
  parameters?: object[]
  requestBody?: object
  /** By status. */
  responses: Record<string, object>
}

/** Every schema that has a name. */
const SCHEMAS: ReadonlyMap<string, JsonSchema> = new Map(
  [
    { Error: errorSchema, Violation: violationSchema },
    ...Object.values(serviceRoutes).map(({ schemas }) => schemas),
  ].flatMap((schemas): readonly [string, JsonSchema][] => Object.entries(schemas)),
)

/** The components of a document: only those that the paths refer to, directly or through another component. */
function componentsFor(paths: object): object {
  const headers = new Set(referredTo(paths, 'headers'))
  return {
    securitySchemes,
    headers: Object.fromEntries(Object.entries(replyHeaders).filter(([name]) => headers.has(name))),
    schemas: Object.fromEntries(reach(referredTo(paths, 'schemas'))),
  }
}

function referredTo(part: object, kind: 'headers' | 'schemas'): readonly string[] {
  const references = JSON.stringify(part).matchAll(/"#\/components\/(\w+)\/([\w-]+)"/g)
  return [...references].flatMap(([, of, name]) => (of === kind && name !== undefined ? name : []))
}

/** The schemas with these names, and those that they refer to. */
function reach(names: readonly string[]): readonly (readonly [name: string, schema: JsonSchema])[] {
  const reached = new Set(names)
  // A set is iterated in order of insertion, including what is added meanwhile.
  for (const name of reached) for (const other of referredTo(schemaOf(name), 'schemas')) reached.add(other)
  return [...reached].sort().map((name) => [name, schemaOf(name)])
}

function schemaOf(name: string): JsonSchema {
  const schema = SCHEMAS.get(name)
  if (schema === undefined) throw new TypeError(`a route refers to the schema ${name}, but no service defines it`)
  return schema
}
