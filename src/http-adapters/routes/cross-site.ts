import type { NeutralRequest } from './neutral.ts'
import { crossSite } from './wire-error.ts'

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Refuses a browser's request that another site made: an unsafe method, `Sec-Fetch-Site: cross-site` or, from browsers
 * that do not send it, an `Origin` that is not ours, and no `Authorization` header. Only whether that header is there is
 * looked at: no browser adds a token by itself, but one that has cached Basic credentials adds those.
 * Source: docs/behaviour.md, Over HTTP
 *
 * @param publicUrl - where clients see us; besides it the `Host` header counts as ours
 * @throws WireError `CROSS_SITE`
 */
export function refuseCrossSite(request: NeutralRequest, publicUrl: string | undefined): void {
  if (SAFE.has(request.method) || request.header('authorization')) return
  if (!isFromAnotherSite(request, publicUrl)) return

  throw crossSite()
}

function isFromAnotherSite(request: NeutralRequest, publicUrl: string | undefined): boolean {
  const site = request.header('sec-fetch-site')
  if (site !== undefined) return site === 'cross-site'

  const origin = request.header('origin')
  if (origin === undefined) return false

  const from = hostOf(origin)
  if (from === undefined) return true // "null", an opaque origin
  const scheme = origin.slice(0, origin.indexOf(':'))
  const own = [publicUrl, `${scheme}://${request.header('host') ?? ''}`]
  return !own.some((address) => address !== undefined && hostOf(address) === from)
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
