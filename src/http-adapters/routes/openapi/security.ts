import type { Action } from '../../../schema/access.ts'
import type { Route } from '../route.ts'

/** The ways to say who asks. Which of them there are is the host's: these are the ones that Gitea's clients use. */
export const securitySchemes = {
  bearer: { type: 'http', scheme: 'bearer', description: 'The token, which is sent as `Authorization: Bearer TOKEN`' },
  token: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: 'The word `token`, a blank and the token, sent as `Authorization: token TOKEN`',
  },
  basic: {
    type: 'http',
    scheme: 'basic',
    description: 'The token as user name or as password; not for changes that pages of other sites ask for',
  },
} as const

/** What a policy may allow to nobody in particular. Source: docs/behaviour.md, Over HTTP */
const OPEN: ReadonlySet<Action> = new Set(['pins.read', 'signing-keys.read'])

type Requirement = Readonly<Partial<Record<keyof typeof securitySchemes, readonly string[]>>>

const SIGNED_IN: readonly Requirement[] = [{ bearer: [] }, { token: [] }, { basic: [] }]

/** What a route asks of the caller: any one of these. */
export function securityOf(route: Route): readonly Requirement[] {
  return isOpen(route) ? [...SIGNED_IN, {}] : SIGNED_IN
}

/** Whether a route may answer without a credential, as far as the policy lets it. */
function isOpen({ inputs }: Route): boolean {
  const actions = Object.values(inputs).flatMap((input) => input.action ?? [])
  return actions.every((action) => OPEN.has(action))
}
