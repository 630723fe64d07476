import { AssertionError } from 'node:assert'
import type { DescribedBy } from './description.ts'
import { wrongDescription } from './description.ts'

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
