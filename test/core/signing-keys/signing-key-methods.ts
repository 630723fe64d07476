import type { AskingMethod } from '../asking.ts'
import { methodsAbout } from '../asking.ts'

const key = { format: 'ssh', repositoryId: 10 } as const

/** The method of signing keys. */
export const signingKeyMethods: readonly AskingMethod[] = [
  ...methodsAbout({ repositoryId: '10' }, 'REPOSITORY_NOT_FOUND', [
    ['signingKeys.publicKey', 'signing-keys.read', ({ signingKeys }, who) => signingKeys.publicKey(who, key)],
  ]),
]
