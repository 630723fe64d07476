import { describe, expectTypeOf, test } from 'vitest'
import type { Api, ApiOptions, Directory, Presenter } from '../../../src/http-adapters/http.ts'
import { createApi, presentTables } from '../../../src/http-adapters/http.ts'
import type { Caller, Forge, Id, PortContext } from '../../../src/index.ts'
import type { HostPorts } from '../../../src/storage/storage.ts'

interface Person {
  readonly id: number
  readonly login: string
}
interface Handle {
  readonly handle: true
}

declare const forge: Forge<Person, Handle>
declare const pinForge: Forge<Person, Handle, 'pins'>
declare const directory: Directory<Person>
declare const present: Presenter<Person>
declare const storage: { readonly host: HostPorts<Handle> }

const findAccount = () => undefined
const findRepository = () => undefined
const findIssue = () => undefined
const users = () => []
const issues = () => []
const pullRequests = () => []

describe('createApi with some services', () => {
  test('needs only what their routes call', () => {
    const pins = { directory: { findRepository, findIssue }, present: { issues, pullRequests } }

    expectTypeOf(createApi(forge, { services: ['pins'], ...pins })).toEqualTypeOf<Api<Person>>()
    createApi(forge, { services: ['blocks'], directory: { findAccount }, present: { users } })
    createApi(forge, { services: ['badges'], directory: { findAccount } })
    createApi(forge, { services: ['signing-keys'], directory: { findRepository } })
    createApi(forge, { services: ['badges', 'signing-keys'], directory: { findAccount, findRepository } })
    createApi(forge, { services: [] })
  })

  test('needs each method that their routes call', () => {
    // @ts-expect-error pins are found by their numbers
    createApi(forge, { services: ['pins'], directory: { findRepository }, present: { issues } })
    // @ts-expect-error lists of pins show issues
    createApi(forge, { services: ['pins'], directory: { findRepository, findIssue } })
    // @ts-expect-error a block names an account
    createApi(forge, { services: ['blocks'], directory: { findRepository }, present: { users } })
    // @ts-expect-error the names in the paths of both are found
    createApi(forge, { services: ['badges', 'signing-keys'], directory: { findAccount } })
    // @ts-expect-error the forge has pins alone, and they need a directory
    createApi(pinForge, { present: { issues } })
  })

  test('takes the ports that tables answer', () => {
    createApi(forge, { directory: storage.host, present: presentTables(storage) })
    createApi(pinForge, { directory: storage.host, present: presentTables(storage) })
    createApi(forge, { services: ['blocks'], directory: storage.host, present: presentTables(storage) })
    const ready = presentTables(storage)
    createApi(pinForge, { directory: storage.host, present: { ...ready, issues } })
  })

  test('knows the parameters of its ports', () => {
    createApi(forge, {
      services: ['pins'],
      directory: {
        findRepository: (owner, name, context) => {
          expectTypeOf([owner, name]).toEqualTypeOf<string[]>()
          expectTypeOf(context).toEqualTypeOf<PortContext<Caller<Person>, never>>()
          return { id: 10 }
        },
        findIssue: (repositoryId, index) => ({ id: index, repositoryId, kind: 'issue' }),
      },
      present: {
        issues(ids) {
          expectTypeOf(ids).toEqualTypeOf<readonly Id[]>()
          return ids.map((id) => ({ id }))
        },
        pullRequests: (ids) => ids.map(() => undefined),
      },
    })
  })
})

describe('createApi for a forge with some services', () => {
  test('refuses a service that the forge does not have', () => {
    // @ts-expect-error the forge has no blocks
    createApi(pinForge, { services: ['blocks'], directory, present })
  })
})

test('the options of an API are those of all services by default', () => {
  expectTypeOf<ApiOptions<Person>>().toExtend<{ readonly directory: Directory<Person> }>()
  expectTypeOf<ApiOptions<Person>>().toExtend<{ readonly present: Presenter<Person> }>()
  expectTypeOf<{ readonly directory: Directory<Person> }>().not.toExtend<ApiOptions<Person>>()
  expectTypeOf<{ readonly directory: Directory<Person> }>().toExtend<ApiOptions<Person, 'badges'>>()
})
