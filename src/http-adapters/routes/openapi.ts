import published from '../../../schema/openapi.json' with { type: 'json' }
import type { Settings } from './settings.ts'

/** An OpenAPI 3.1 document. Hosts may change all of it. Source: schema/openapi.json */
export interface OpenApiDocument {
  openapi: string
  info: { title: string; version: string; description: string; license: object }
  servers: { url: string; description?: string }[]
  tags: { name: string; description: string }[]
  /** By path, then by method in lower case. */
  paths: Record<string, Record<string, OpenApiOperation>>
  /** What several operations share, and what these parts refer to. */
  components: Record<
    'securitySchemes' | 'parameters' | 'requestBodies' | 'responses' | 'headers' | 'schemas',
    Record<string, object>
  >
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

/**
 * Returns a copy of the published document that has only the operations of the mounted services, and the limits, the
 * credentials and the address of this API. Without a public address, the server is the address of the document. That is right for a
 * document at `openapi.json` below the mount point.
 */
export function openApiDocument({ publicUrl, services, credentials, limits }: Settings): OpenApiDocument {
  // A copy, because a host may change it.
  const copy: typeof published = JSON.parse(JSON.stringify(published), (name, part) =>
    credentials === 'session' && name === 'WWW-Authenticate' ? undefined : part,
  )
  const { parameters, requestBodies } = copy.components
  parameters.limit.schema.maximum = limits.maxPageSize
  parameters.limit.schema.default = limits.defaultPageSize
  stateLimit(requestBodies.BadgeSlugs, limits.maxBodyBytes)
  stateLimit(requestBodies.IssueDocument, limits.maxImportBytes)

  const mounted = new Set<string>(services)
  const document: OpenApiDocument = {
    ...copy,
    servers: [{ url: publicUrl ?? '.' }],
    tags: copy.tags.filter(({ name }) => mounted.has(name)),
  }
  for (const [path, item] of Object.entries(document.paths)) {
    const services = Object.values(item).flatMap(({ tags }) => tags)
    if (!services.some((name) => mounted.has(name))) delete document.paths[path]
  }
  removeUnused(document)
  return document
}

function stateLimit(body: { description: string }, bytes: number): void {
  body.description = body.description.replace(/\d+ bytes/, `${bytes} bytes`)
}

/** Removes the components that no path refers to, either directly or through another component. */
function removeUnused({ paths, components: { securitySchemes: _, ...referable } }: OpenApiDocument): void {
  const components = new Map(Object.entries(referable))
  const used = new Set(references(paths))
  // A set is iterated in order of insertion, including what is added meanwhile.
  for (const reference of used) {
    const [kind = '', name = ''] = reference.split('/')
    for (const other of references(components.get(kind)?.[name] ?? {})) used.add(other)
  }
  for (const [kind, parts] of components) {
    for (const name of Object.keys(parts)) if (!used.has(`${kind}/${name}`)) delete parts[name]
  }
}

function references(part: object): readonly string[] {
  return [...JSON.stringify(part).matchAll(/"#\/components\/([^"]+)"/g)].map(([, reference = '']) => reference)
}
