import { AssertionError } from 'node:assert'
import type { KnownHost } from '../known-host.ts'

const JSON_TYPE = 'application/json;charset=utf-8'

/** A response as it was received. */
export interface Reply {
  readonly status: number
  /** The header lines in order, with names in lower case. Repeated headers are not merged. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string
}

/** A response and the checks on it. A failed check throws a `mountFailure`. */
export class Answer {
  readonly status: number
  readonly headers: Reply['headers']
  readonly body: string
  /** The body as an object; empty if the body is not a JSON object. */
  readonly json: Readonly<Record<string, unknown>>
  readonly #facts: AnswerFacts

  constructor({ status, headers, body }: Reply, facts: AnswerFacts) {
    this.status = status
    this.headers = headers
    this.body = body
    this.json = objectIn(body)
    this.#facts = facts
  }

  /** Returns the values of a header, one per line. The name is in lower case. */
  lines(name: string): readonly string[] {
    return this.headers.filter(([one]) => one === name).map(([, value]) => value)
  }

  mustBe(status: number): void {
    this.must(this.status === status, String(status))
  }

  /** Requires the format of every error: JSON with the one content type, a message, a URL and this code. */
  mustRefuse(status: number, code: string): void {
    const { message, url } = this.json
    const isWhole = typeof message === 'string' && typeof url === 'string' && this.json['code'] === code
    const isTyped = this.lines('content-type').join() === JSON_TYPE
    this.must(this.status === status && isWhole && isTyped, `${status} ${JSON_TYPE}, with the code ${code}`, code)
  }

  /** Requires any response other than an internal failure. */
  mustBeNoFailure(): void {
    this.must(this.status >= 200 && this.status < 500, 'any response below 500')
  }

  /**
   * Throws the error of the case unless the condition holds.
   *
   * @param expectedCode - the code that is meant to come, which therefore says nothing about the description of the host
   */
  must(holds: boolean, expected: string, expectedCode?: string): void {
    if (holds) return

    const type = this.lines('content-type').join() || 'without content type'
    const body = this.body.length <= 200 ? this.body : `${this.body.slice(0, 200)}...`
    const received = `${this.status} ${type}${body === '' ? ', no body' : ` ${body}`}`
    const { code } = this.json
    const { sent, describedBy } = this.#facts
    const wrong = code === expectedCode ? undefined : wrongDescription(code, describedBy)
    // A host that mounts the API with next answers in its place, also where a service is not mounted.
    const isHosts = this.status === 404 && code === undefined && describedBy?.includes('services') === true
    const fix = wrong ?? `${this.#facts.fix}${isHosts ? '; or name in services only what is mounted' : ''}`
    throw mountFailure({ sent, received, expected, fix })
  }
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

/** The facts of an answer that are not in its reply. */
interface AnswerFacts extends Pick<FailureFacts, 'sent' | 'fix'> {
  readonly describedBy?: readonly DescribedBy[] | undefined
}

/** The facts that the error of a failed case reports. */
export interface FailureFacts {
  readonly sent: string
  readonly received: string
  readonly expected: string
  readonly fix: string
}

/** Creates the error of a failed case: the request, the actual response, the expected response, and the advice. */
export function mountFailure({ sent, received, expected, fix }: FailureFacts): Error {
  const lines = [`sent:     ${sent}`, `received: ${received}`, `expected: ${expected}`, `fix:      ${fix}`]
  return new AssertionError({ message: lines.join('\n') })
}

/** A part of the description of a host from which a request is made. */
export type DescribedBy = keyof KnownHost

/** What is wrong with the part that a code of the API is about. By the code, the parts in the order in which they are looked for. */
const WRONG: { readonly [code: string]: readonly (readonly [part: DescribedBy, advice: string])[] } = {
  ROUTE_NOT_FOUND: [
    [
      'services',
      'the API has no such route: name in services only what is mounted, and let prefix be the mount point; without services, all are expected',
    ],
  ],
  ORGANIZATION_NOT_FOUND: [['organization', 'name in organization one that exists']],
  REPOSITORY_NOT_FOUND: [['repository', 'name in repository one that exists and that everyone may read']],
  USER_NOT_FOUND: [['users', 'name in users two who exist']],
  ALREADY_BLOCKED: [['users', 'name in users two whom the organization does not block, or unblock them first']],
  CANNOT_BLOCK_SELF: [['users', 'name in users two others than the user of authorization']],
  CANNOT_BLOCK_MEMBER: [['users', 'name in users two who are not members of the organization']],
  CANNOT_BLOCK_ORGANIZATION: [['users', 'name in users two users, not organizations']],
  INVALID_CREDENTIALS: [['authorization', 'pass in authorization a credential that the application knows']],
  FORBIDDEN: [['authorization', 'pass in authorization the credential of a user who may do everything']],
  BODY_TOO_LARGE: [
    ['maxBodyBytes', 'pass in maxBodyBytes the value that was passed to createApi'],
    ['maxImportBytes', 'pass in maxImportBytes the value that was passed to createApi'],
  ],
}

/** What is wrong with a path of the description, whatever else than the failure or the wait comes from it. */
const PATHS: readonly (readonly [part: DescribedBy, advice: string])[] = [
  ['failing', 'let failing.path be a path of the API, relative to prefix, on which a port throws'],
  ['waiting', 'let waiting.path be a path of the API, relative to prefix, on which a port waits'],
]

/**
 * Returns the advice where a response shows that the description of the host is wrong, and not its mount.
 *
 * @param code - the code of the response; undefined if it is not an error of the API
 * @param describedBy - the parts from which the request was made
 */
function wrongDescription(code: unknown, describedBy: readonly DescribedBy[] = []): string | undefined {
  if (typeof code !== 'string' || code === 'INTERNAL') return undefined
  const wrong = [...PATHS, ...(Object.hasOwn(WRONG, code) ? (WRONG[code] ?? []) : [])]
  const found = wrong.find(([part]) => describedBy.includes(part))
  return found && `the description that mountContract was given is wrong, not the mount: ${found[1]}`
}
