import type { Api } from '../http-adapters/http.ts'
import { API_PATH } from './public-url.ts'

/**
 * The OpenAPI document of the server: what it serves and what `forgelet openapi` prints.
 *
 * @param publicUrl - as it was told; undefined: the server is wherever the document was fetched from, under any of its names
 */
export function apiDocument(api: Pick<Api<never>, 'openApi'>, publicUrl: string | undefined): object {
  const servers = [{ url: publicUrl ?? API_PATH }]
  return { ...api.openApi(), servers }
}
