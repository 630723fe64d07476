import type { IncomingMessage, ServerResponse } from 'node:http'
import { CommandError } from './command.ts'

/** What Gitea allows by default, and the headers with which a client asks whether a key has changed. */
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'
const HEADERS = 'Authorization, Content-Type, If-None-Match, User-Agent, X-Gitea-OTP'
const MAX_AGE_S = '600'

/** Adds a value of `--cors` to those before it. @throws CommandError (wrong usage) if it is not an origin */
export function addOrigin(text: string, others: readonly string[] = []): readonly string[] {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.origin === text) return [...others, text]
  throw new CommandError(2, '--cors: give an origin in lower case, without a path, such as https://app.example.com')
}

/**
 * Allows the pages of some origins to read a response. Answers the request itself if it is the preflight of one of them,
 * and returns whether it did. Cookies and other credentials of the browser are not allowed.
 */
export function allowOrigins(
  origins: ReadonlySet<string>,
  { method, headers }: IncomingMessage,
  response: ServerResponse,
): boolean {
  if (origins.size === 0) return false
  response.setHeader('Vary', 'Origin')
  const { origin = '' } = headers
  if (!origins.has(origin)) return false

  response.setHeader('Access-Control-Allow-Origin', origin)
  if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return false
  const allowed = {
    'Access-Control-Allow-Methods': METHODS,
    'Access-Control-Allow-Headers': HEADERS,
    'Access-Control-Max-Age': MAX_AGE_S,
  }
  response.writeHead(204, allowed).end()
  return true
}
