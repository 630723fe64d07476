/** An OpenAPI 3.1 document, as far as it is alike whatever is mounted. Hosts may change all of it. */
export interface OpenApiDocument {
  openapi: string
  info: { title: string; version: string; description: string; license: object }
  servers: { url: string; description?: string }[]
  tags: { name: string; description: string }[]
  /** By path, then by method in small letters. */
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
  /** Any one of these will do; `{}` is nobody in particular. */
  security: Record<string, string[]>[]
  parameters?: object[]
  requestBody?: object
  /** By status. */
  responses: Record<string, object>
}
