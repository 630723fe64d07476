import { wireError } from './error-status.ts'
import type { ApiRequest } from './messages.ts'

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * The schemes that no browser sends by itself. Browsers do send Basic, Digest, Negotiate and NTLM by themselves, so
 * those and unknown schemes do not count.
 */
const EXEMPT = /^\s*(?:bearer|token)\s+\S/i

/**
 * Refuses a browser's request that another site made. Such a request has an unsafe method, no `Authorization` with the
 * scheme `Bearer` or `token`, and `Sec-Fetch-Site: cross-site` or an `Origin` other than the API's. A browser adds
 * cached credentials of other schemes to the requests of every site, and any site can make it cache some. Such
 * credentials do not prove who made the request.
 * Source: docs/behaviour.md, Over HTTP
 *
 * @param publicUrl - the address of the API as clients see it; the `Host` header counts as the API's own origin too
 * @throws WireError `CROSS_SITE`
 */
export function refuseCrossSite(request: ApiRequest, publicUrl: string | undefined): void {
  if (SAFE.has(request.method) || EXEMPT.test(request.header('authorization') ?? '')) return
  if (!isFromAnotherSite(request, publicUrl)) return

  const message = 'requests from other sites need an Authorization header with the scheme Bearer or token'
  throw wireError('CROSS_SITE', message)
}

function isFromAnotherSite(request: ApiRequest, publicUrl: string | undefined): boolean {
  const origin = request.header('origin')
  switch (request.header('sec-fetch-site')) {
    case 'same-origin':
    case 'none':
      return false
    case 'cross-site':
      return true
    case undefined:
      return origin !== undefined && !isOwn(origin, request, publicUrl)
    default: // 'same-site': another port or subdomain may belong to someone else
      return origin === undefined || !isOwn(origin, request, publicUrl)
  }
}

function isOwn(origin: string, request: ApiRequest, publicUrl: string | undefined): boolean {
  const from = hostOf(origin)
  if (from === undefined) return false // "null", an opaque origin
  const scheme = origin.slice(0, origin.indexOf(':'))
  const own = [publicUrl, `${scheme}://${request.header('host') ?? ''}`]
  return own.some((address) => address !== undefined && hostOf(address) === from)
}

/** The host and port of an address, without the default port of its scheme; `undefined` if the address has no host. */
function hostOf(address: string): string | undefined {
  return URL.canParse(address) ? new URL(address).host || undefined : undefined
}
