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
const NOBODY = 'no-such-name-7f3a'

/** One probe for each service, in order of preference. */
const PROBES: readonly (readonly [ServiceName, Probe])[] = [
  [
    'pins',
    {
      path: (name) => `/repos/${name}/${NOBODY}/issues/pinned`,
      split: (slash) => `/repos/${NOBODY}${slash}${NOBODY}/issues/pinned`,
      status: 404,
      code: 'REPOSITORY_NOT_FOUND',
      unsafe: { method: 'POST', path: `/repos/${NOBODY}/${NOBODY}/issues/1/pin` },
    },
  ],
  [
    'blocks',
    {
      path: (name) => `/orgs/${name}/blocks`,
      split: (slash) => `/orgs/${NOBODY}${slash}blocks`,
      status: 404,
      code: 'ORGANIZATION_NOT_FOUND',
      unsafe: { method: 'PUT', path: `/orgs/${NOBODY}/blocks/${NOBODY}` },
    },
  ],
  [
    'badges',
    {
      path: (name) => `/admin/users/${name}/badges`,
      split: (slash) => `/admin/users/${NOBODY}${slash}badges`,
      status: 401,
      code: 'UNAUTHENTICATED',
      unsafe: { method: 'POST', path: `/admin/users/${NOBODY}/badges` },
    },
  ],
  [
    'signing-keys',
    {
      path: (name) => `/repos/${name}/${NOBODY}/signing-key.pub`,
      split: (slash) => `/repos/${NOBODY}${slash}${NOBODY}/signing-key.pub`,
      status: 404,
      code: 'REPOSITORY_NOT_FOUND',
      unsafe: undefined,
    },
  ],
]

/** The name that probes ask for if the name does not matter. */
export const nobody: string = NOBODY

/**
 * Returns the probe of the first of these services.
 *
 * @throws TypeError if no service is given
 */
export function probeOf(services: readonly ServiceName[] | undefined): Probe {
  const found = PROBES.find(([service]) => services?.includes(service) ?? true)
  if (found === undefined) throw new TypeError('services must name what is mounted: at least one')
  return found[1]
}
