import { expectTypeOf, test } from 'vitest'
import type { ContractCase, MountedHost } from '../../app/testing/testing.ts'
import { mountContract } from '../../app/testing/testing.ts'

declare const start: () => Promise<MountedHost>

test('the contract takes an application, and what is known of it', () => {
  expectTypeOf(mountContract(start)).toEqualTypeOf<readonly ContractCase[]>()
  mountContract(start, { users: ['sam', 'rita'], headers: { 'Set-Cookie': ['a=1', 'b=2'], 'X-Host': 'here' } })
  mountContract(start, { services: ['pins'], crossSite: 'allow', publicUrl: undefined })
})

test('the contract takes nothing that it does not know', () => {
  // @ts-expect-error two users, not one
  mountContract(start, { users: ['sam'] })
  // @ts-expect-error a repository has an owner
  mountContract(start, { repository: 'rocket' })
  // @ts-expect-error no such service
  mountContract(start, { services: ['wiki'] })
  // @ts-expect-error an application that cannot be stopped
  mountContract(async () => ({ origin: 'http://127.0.0.1:3000', prefix: '' }))
})
