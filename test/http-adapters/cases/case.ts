import type { WorldOptions } from '../../world.ts'

/** Who asks: a person of the world, `anonymous`, or `wrong`, who sends an invalid token. */
export type Who = 'root' | 'olga' | 'mia' | 'ada' | 'will' | 'rita' | 'stan' | 'anonymous' | 'wrong'

/** One request: who, method, path with query, body (an object is sent as JSON, text as it is). */
export type Ask = readonly [who: Who, method: string, path: string, body?: object | string | undefined]

/** What a reply must be; what is not named is not checked. */
export interface Expected {
  /** The code of an error body. */
  readonly code?: string
  readonly message?: string
  /** The pointers of the violations. */
  readonly violations?: readonly string[]
  /** Their codes. */
  readonly violationCodes?: readonly string[] | undefined
  readonly json?: unknown
  readonly text?: string
  /** Null: it must not be there. */
  readonly headers?: Readonly<Record<string, string | null>>
}

/** One case: what was done before (each must succeed), the request, and what it is answered. */
export interface Case {
  readonly fact: string
  readonly world?: WorldOptions
  readonly before?: readonly Ask[]
  readonly ask: Ask
  readonly headers?: Readonly<Record<string, string>>
  readonly status: number
  readonly expected?: Expected
  /** A look afterwards, by the site admin: path and the JSON it gives. */
  readonly after?: readonly [path: string, json: unknown]
}

/** A request that is refused, with the code of the error or more of the reply. */
export function refusal(
  fact: string,
  ask: Ask,
  status: number,
  expected: string | Expected,
  more: Partial<Case> = {},
): Case {
  return { fact, ask, status, expected: typeof expected === 'string' ? { code: expected } : expected, ...more }
}

/** A request that is served, with what was done before or is there afterwards. */
export function served(fact: string, ask: Ask, status: 200 | 204, more: Partial<Case> = {}): Case {
  return { fact, ask, status, ...more }
}
