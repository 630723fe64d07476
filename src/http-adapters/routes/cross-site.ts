import { crossSite } from './error-status.ts'
import type { ApiRequest } from './messages.ts'

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

/** The schemes that no browser sends by itself. Those that it does (Basic, Digest, Negotiate, NTLM) and unknown ones do not count. */
const EXEMPT = /^\s*(?:bearer|token)\s+\S/i

/**
 * Refuses a browser's request that another site made: an unsafe method, no `Authorization` of the scheme `Bearer` or `token`,
 * and `Sec-Fetch-Site: cross-site` or an `Origin` that is not ours. A browser that has cached credentials of another scheme
 * adds them to the requests of every site, and any site can have it cache some: they prove nothing about who made the request.
 * Source: docs/behaviour.md, Over HTTP
 *
 * @param publicUrl - where clients see us; besides it the `Host` header counts as ours
 * @throws WireError `CROSS_SITE`
 */
export function refuseCrossSite(request: ApiRequest, publicUrl: string | undefined): void {
  if (SAFE.has(request.method) || EXEMPT.test(request.header('authorization') ?? '')) return
  if (!isFromAnotherSite(request, publicUrl)) return

  throw crossSite()
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
    default: // 'same-site': another port or subdomain may be another person's
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

/** Host and port, without the port that the scheme implies; undefined when there is none. */
function hostOf(address: string): string | undefined {
  try {
    const { host } = new URL(address)
    return host === '' ? undefined : host
  } catch {
    return undefined
  }
}
