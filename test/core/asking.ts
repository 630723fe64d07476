import type { AccessRequest, Caller, Forge } from '../../src/index.ts'
import type { Person } from './a-forge.ts'

type Action = AccessRequest['action']
type Act = (forge: Forge<Person, undefined>, who: Caller<Person>) => Promise<unknown>

/** A method that asks the policy: its requests, and the code of the error if the policy conceals what it is about. */
export interface AskingMethod {
  readonly method: string
  readonly act: Act
  readonly requests: readonly object[]
  readonly concealed: string
}

/** Methods about one object. A call that asks for a second action names that too. */
export function methodsAbout(
  about: Partial<Record<'repositoryId' | 'organizationId' | 'userId', string>>,
  concealed: string,
  methods: readonly (readonly [method: string, Action, Act, also?: Action])[],
): readonly AskingMethod[] {
  return methods.map(([method, action, act, also]) => ({
    method,
    act,
    requests: [action, ...(also === undefined ? [] : [also])].map((each) => ({ action: each, ...about })),
    concealed,
  }))
}
