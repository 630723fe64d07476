import type { AccessRequest, Caller, Forge } from '../../src/index.ts'
import type { Person } from './a-forge.ts'

/** Methods that ask the policy for an action on an object. Each service has its own in `asking.ts` of its folder. */
export interface Asking {
  /** The object that the policy is asked about. */
  readonly about: Partial<Record<'repositoryId' | 'organizationId' | 'userId', string>>
  /** The code of the error if the policy conceals the object. */
  readonly concealed: string
  /** A call that asks for a second action, with the same object, names that too. */
  readonly methods: readonly (readonly [method: string, Action, Act, also?: Action])[]
}

type Action = AccessRequest['action']
type Act = (forge: Forge<Person, undefined>, who: Caller<Person>) => Promise<unknown>
