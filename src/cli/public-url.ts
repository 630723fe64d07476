import { CommandError } from './command.ts'

/** Where the server has the API. */
export const API_PATH = '/api/v1'
/** Where the server has the page about it. */
export const PAGE_PATH = '/api/swagger'

/**
 * Reads `--public-url`, where clients see the API root. A bare origin means the server's own path under it.
 * @throws CommandError (wrong usage)
 */
export function parsePublicUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const plain = url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
  if (!plain || url.search !== '' || url.hash !== '') {
    throw new CommandError(
      2,
      '--public-url: give an http or https address without credentials, query and fragment, such as https://git.example.com/api/v1',
    )
  }
  return url.origin + (url.pathname === '/' ? API_PATH : url.pathname.replace(/\/+$/, ''))
}

/** Where clients see the API page: beside the API root, or at the server's own path when that root has another name. */
export function pageUrl(publicUrl: string): string {
  if (!publicUrl.endsWith(API_PATH)) return new URL(PAGE_PATH, publicUrl).href
  return publicUrl.slice(0, -API_PATH.length) + PAGE_PATH
}
