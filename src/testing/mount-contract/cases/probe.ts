import type { ServiceName } from '../../../http-adapters/http.ts'

/** Routes that answer alike on every host, whatever data it has: names that nobody has are asked for. */
export interface Probe {
  /** Of GET; the name is put in as one segment, as it is. */
  path(name: string): string
  /** A path that is none of the API's, but would be if the `%2F` in it were a slash; `slash` is how that is written. */
  split(slash: string): string
  /** What `path` is answered, whatever the name. */
  readonly status: number
  readonly code: string
  /** A request that changes something, and is answered just so. */
  readonly unsafe: { readonly method: string; readonly path: string } | undefined
}

/** A name that no host has. */
const NOBODY = 'no-such-name-7f3a'

/** One of a service of each, in the order in which they are taken. */
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

/** The name that probes ask for when it does not matter. */
export const nobody: string = NOBODY

/**
 * The probe of the first of these services.
 *
 * @throws TypeError when it is none of them
 */
export function probeOf(services: readonly ServiceName[] | undefined): Probe {
  const found = PROBES.find(([service]) => services?.includes(service) ?? true)
  if (found === undefined) throw new TypeError('services must name what is mounted: at least one')
  return found[1]
}
