import type { ServiceName } from '../../../http-adapters/http.ts'

/**
 * Requests with the same response on every host, whatever data it has, because they ask for names that do not exist.
 */
export interface Probe {
  /** The path of a GET request. */
  readonly path: string
  /** The same path with another name, which is inserted unchanged as one segment. */
  named(name: string): string
  /**
   * A path that is not a path of the API, but would be if the `%2F` in it were a slash. `slash` is the spelling of that
   * character.
   */
  split(slash: string): string
  /** The status of the response for `path`, whatever the name. */
  readonly status: number
  readonly code: string
  /** A request that changes data and receives the same response. */
  readonly unsafe: { readonly method: string; readonly path: string } | undefined
}

/** A name that does not exist on any host. */
export const UNKNOWN_NAME = 'no-such-name-7f3a'
const REPOSITORY = `/repos/${UNKNOWN_NAME}/${UNKNOWN_NAME}`

/** The probe of each service, in order of preference. */
const PROBES: Readonly<Record<ServiceName, Probe>> = {
  pins: {
    ...probe('/repos', `${UNKNOWN_NAME}/issues/pinned`, 'REPOSITORY_NOT_FOUND'),
    unsafe: { method: 'POST', path: `${REPOSITORY}/issues/1/pin` },
  },
  blocks: {
    ...probe('/orgs', 'blocks', 'ORGANIZATION_NOT_FOUND'),
    unsafe: { method: 'PUT', path: `/orgs/${UNKNOWN_NAME}/blocks/${UNKNOWN_NAME}` },
  },
  badges: {
    ...probe('/admin/users', 'badges', 'UNAUTHENTICATED'),
    status: 401,
    unsafe: { method: 'POST', path: `/admin/users/${UNKNOWN_NAME}/badges` },
  },
  'signing-keys': {
    ...probe('/repos', `${UNKNOWN_NAME}/signing-key.pub`, 'REPOSITORY_NOT_FOUND'),
    unsafe: undefined,
  },
  exchange: {
    ...probe('/repos', `${UNKNOWN_NAME}/issues/export`, 'REPOSITORY_NOT_FOUND'),
    unsafe: { method: 'POST', path: `${REPOSITORY}/issues/import` },
  },
}

/** Creates the probe of paths that have a name between a start and an end. */
function probe(start: string, end: string, code: string): Omit<Probe, 'unsafe'> {
  const named = (name: string): string => `${start}/${name}/${end}`
  const split = (slash: string): string => `${start}/${UNKNOWN_NAME}${slash}${end}`
  return { path: named(UNKNOWN_NAME), named, split, status: 404, code }
}

/**
 * Returns the probe of the first of these services.
 *
 * @throws TypeError if no service is given
 */
export function probeOf(services: readonly ServiceName[] | undefined): Probe {
  const [probe] = Object.entries(PROBES).flatMap(([service, probe]) =>
    services === undefined || services.some((mounted) => mounted === service) ? probe : [],
  )
  if (probe === undefined) throw new TypeError('services must name at least one mounted service')
  return probe
}
