import document from '../../../../schema/openapi.json' with { type: 'json' }
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
  /** A method that `path` does not have. */
  readonly refusedMethod: string
  /** A request that changes data and receives the same response. */
  readonly unsafe: ProbeRequest | undefined
  /** The probe is one of a service that is mounted. */
  readonly describedBy: readonly ['services']
}

/** A request of a probe. */
interface ProbeRequest {
  readonly method: string
  readonly path: string
  readonly describedBy: readonly ['services']
}

/** A name that does not exist on any host. */
export const UNKNOWN_NAME = 'no-such-name-7f3a'

/** What an anonymous caller receives where the first name in a path does not exist. By the beginning of the path. */
const REFUSALS: readonly (readonly [start: string, status: number, code: string])[] = [
  ['/repos/', 404, 'REPOSITORY_NOT_FOUND'],
  ['/orgs/', 404, 'ORGANIZATION_NOT_FOUND'],
  ['/', 401, 'UNAUTHENTICATED'],
]

/** An operation of the API. Its tags are its services. */
interface Operation {
  readonly path: string
  readonly method: string
  readonly tags: readonly string[]
}

const OPERATIONS: readonly Operation[] = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([name, { tags }]) => ({ path, method: name.toUpperCase(), tags })),
)

/**
 * Returns the probe of the first of these services that has one, if possible of one that changes data.
 *
 * @throws TypeError if no service is given, or none of them has a probe
 */
export function probeOf(
  services: readonly ServiceName[] | undefined,
  operations: readonly Operation[] = OPERATIONS,
): Probe {
  const mounted = document.tags.filter(({ name }) => services?.some((one) => one === name) ?? true)
  const probes = mounted.flatMap(({ name }) => probeIn(operations.filter(({ tags }) => tags.includes(name))) ?? [])
  const probe = probes.find(({ unsafe }) => unsafe !== undefined) ?? probes[0]
  if (probe !== undefined) return probe
  if (mounted.length === 0) throw new TypeError('services must name at least one mounted service')
  const names = mounted.map(({ name }) => name).join(', ')
  throw new TypeError(
    `services must name one that has GET on a path with a parameter: mount another service beside ${names}`,
  )
}

/** Creates the probe of a service from its operations, if it has GET on a path with a parameter. */
function probeIn(own: readonly Operation[]): Probe | undefined {
  const path = own.find((one) => one.method === 'GET' && one.path.includes('{'))?.path
  if (path === undefined) return undefined
  const methods = own.filter((one) => one.path === path).map(({ method }) => method)
  const unsafe = own.find(({ method }) => method !== 'GET')
  const [, status = 0, code = ''] = REFUSALS.find(([start]) => path.startsWith(start)) ?? []
  const named = (name: string): string => filled(path.replace(/\{\w+\}/, () => name))
  return {
    path: filled(path),
    named,
    split: (slash) => filled(path.replace('}/', () => `}${slash}`)),
    status,
    code,
    refusedMethod: methods.includes('PUT') ? 'PATCH' : 'PUT',
    unsafe: unsafe && { method: unsafe.method, path: filled(unsafe.path), describedBy: ['services'] },
    describedBy: ['services'],
  }
}

/** Fills the parameters of a path with a name that does not exist. */
function filled(template: string): string {
  return template.replaceAll(/\{\w+\}/g, UNKNOWN_NAME)
}
