import { CommandError } from './command.ts'

/** The path of the API on the server. */
export const API_PATH = '/api/v1'
/** The path of the API page on the server. */
export const PAGE_PATH = '/api/swagger'

/**
 * Parses `--public-url`, the URL of the API root for clients. For a bare origin, the server's own API path is appended.
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

/**
 * Returns the URL of the API page for clients: next to the API root, or at the server's own path if the API root has
 * another name.
 */
export function pageUrl(publicUrl: string): string {
  if (!publicUrl.endsWith(API_PATH)) return new URL(PAGE_PATH, publicUrl).href
  return publicUrl.slice(0, -API_PATH.length) + PAGE_PATH
}
