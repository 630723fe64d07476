import type { ServiceName } from '../../../http-adapters/http.ts'

/**
 * Requests with the same response on every host, whatever data it has, because they ask for names that do not exist.
 */
export interface Probe {
  /** The path for GET. The name is inserted unchanged as one segment. */
  path(name: string): string
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

/** The probe of each service, in order of preference. */
const PROBES: Readonly<Record<ServiceName, Probe>> = {
  pins: {
    path: (name) => `/repos/${name}/${UNKNOWN_NAME}/issues/pinned`,
    split: (slash) => `/repos/${UNKNOWN_NAME}${slash}${UNKNOWN_NAME}/issues/pinned`,
    status: 404,
    code: 'REPOSITORY_NOT_FOUND',
    unsafe: { method: 'POST', path: `/repos/${UNKNOWN_NAME}/${UNKNOWN_NAME}/issues/1/pin` },
  },
  blocks: {
    path: (name) => `/orgs/${name}/blocks`,
    split: (slash) => `/orgs/${UNKNOWN_NAME}${slash}blocks`,
    status: 404,
    code: 'ORGANIZATION_NOT_FOUND',
    unsafe: { method: 'PUT', path: `/orgs/${UNKNOWN_NAME}/blocks/${UNKNOWN_NAME}` },
  },
  badges: {
    path: (name) => `/admin/users/${name}/badges`,
    split: (slash) => `/admin/users/${UNKNOWN_NAME}${slash}badges`,
    status: 401,
    code: 'UNAUTHENTICATED',
    unsafe: { method: 'POST', path: `/admin/users/${UNKNOWN_NAME}/badges` },
  },
  'signing-keys': {
    path: (name) => `/repos/${name}/${UNKNOWN_NAME}/signing-key.pub`,
    split: (slash) => `/repos/${UNKNOWN_NAME}${slash}${UNKNOWN_NAME}/signing-key.pub`,
    status: 404,
    code: 'REPOSITORY_NOT_FOUND',
    unsafe: undefined,
  },
  exchange: {
    path: (name) => `/repos/${name}/${UNKNOWN_NAME}/issues/export`,
    split: (slash) => `/repos/${UNKNOWN_NAME}${slash}${UNKNOWN_NAME}/issues/export`,
    status: 404,
    code: 'REPOSITORY_NOT_FOUND',
    unsafe: { method: 'POST', path: `/repos/${UNKNOWN_NAME}/${UNKNOWN_NAME}/issues/import` },
  },
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
