import { describe, expect, it } from 'vitest'
import { createApi } from '../../../src/http-adapters/http.ts'
import type { ApiRequest } from '../../../src/http-adapters/routes/messages.ts'
import type { Actor, ForgeOptions, ServiceName } from '../../../src/index.ts'
import { createForge } from '../../../src/index.ts'
import { memoryStorage } from '../../../src/storage/memory.ts'
import { openWorld } from '../../world.ts'
import { plainRequest } from '../dispatch.ts'

type Settings = Partial<ForgeOptions<Actor, undefined>>

/** The directory fails, so that a request has a `requestId`. */
const broken = {
  directory: {
    findAccount() {
      throw new Error('the accounts are away')
    },
    findRepository: () => undefined,
    findIssue: () => undefined,
  },
  present: { users: () => [], issues: () => [], pullRequests: () => [] },
}

function aForge(options: Settings) {
  const membership = { isMember: () => false }
  return createForge({
    storage: memoryStorage(),
    policy: { authorize: () => ({ allow: true }) },
    membership,
    logger: false,
    ...options,
  })
}

function request(path: string): ApiRequest {
  return plainRequest({ path })
}

describe('an API has of its forge', () => {
  it('calls the observer as a method of its object', async () => {
    const metrics = {
      counts: { requests: 0, operations: 0 },
      request() {
        this.counts.requests += 1
      },
      operation() {
        this.counts.operations += 1
      },
    }
    const forge = aForge({ observer: metrics })
    await failedId(createApi(forge, broken))
    await forge.events.read()

    expect(metrics.counts).toEqual({ requests: 1, operations: 1 })
  })

  it('the services', () => {
    const forge = aForge({ services: ['badges', 'blocks'] })
    const tagsOf = (services?: readonly ServiceName[]) =>
      createApi(forge, { ...broken, services })
        .openApi()
        .tags.map(({ name }) => name)

    expect(new Set(tagsOf())).toEqual(new Set(['badges', 'blocks']))
    expect(tagsOf(['badges'])).toEqual(['badges'])
    expect(() => tagsOf(['pins'])).toThrow('services must be some of blocks, badges; "pins" is not one of them')
  })
})

describe('the limits of an API', () => {
  it.each([
    [{ maxPageSize: 1001 }, 'limits.maxPageSize must be an integer from 1 to 1000'],
    [{ defaultPageSize: 51 }, 'limits.defaultPageSize must be an integer from 1 to 50'],
    [{ defaultPageSize: 15, maxPageSize: 5 }, 'limits.defaultPageSize must be an integer from 1 to 5'],
    [{ maxBodyBytes: 0 }, 'limits.maxBodyBytes must be an integer from 1 to'],
    [{ maxImportBytes: 0 }, 'limits.maxImportBytes must be an integer from 1 to'],
    [{ maxExports: 0 }, 'limits.maxExports must be an integer from 1 to'],
    [{ maxImports: 1.5 }, 'limits.maxImports must be an integer from 1 to'],
    [{ maxRecordBytes: 268_435_457 }, 'limits.maxRecordBytes must be an integer from 1 to 268435456'],
  ])('cannot be %j', (limits, message) => {
    expect(() => openWorld({ limits })).toThrow(message)
  })
})

describe('createApi names the method that is missing, and the service that needs it', () => {
  const { findAccount, findRepository, findIssue } = broken.directory
  const { users, issues } = broken.present

  it.each<[services: readonly string[] | undefined, ports: object, message: string]>([
    [undefined, {}, 'directory.findRepository: a function, for the service pins'],
    [['pins'], { directory: { findRepository } }, 'directory.findIssue: a function, for the service pins'],
    [['pins'], { directory: { findRepository, findIssue } }, 'present.issues: a function, for the service pins'],
    [['blocks'], { present: { users } }, 'directory.findAccount: a function, for the service blocks'],
    [['blocks'], { directory: { findAccount } }, 'present.users: a function, for the service blocks'],
    [['badges'], { directory: 5 }, 'directory.findAccount: a function, for the service badges'],
    [['signing-keys'], {}, 'directory.findRepository: a function, for the service signing-keys'],
  ])('%j with %o', (services, ports, message) => {
    const make = () => Reflect.apply(createApi, undefined, [openWorld().forge, { services, ...ports }])

    expect(make).toThrow(new TypeError(`createApi needs ${message}`))
  })

  it.each([
    [['pins'], { directory: { findRepository, findIssue }, present: { issues } }],
    [['blocks'], { directory: { findAccount }, present: { users } }],
    [['badges'], { directory: { findAccount } }],
    [['signing-keys'], { directory: { findRepository } }],
    [[], {}],
  ])('and needs no other: %j', (services, ports) => {
    const make = () => Reflect.apply(createApi, undefined, [openWorld().forge, { services, ...ports }])

    expect(make).not.toThrow()
  })
})

/** The `requestId` of a request that fails. */
async function failedId(api: ReturnType<typeof createApi>): Promise<unknown> {
  const reply = await api.dispatch(request('/orgs/acme/blocks'), () => null)
  const { requestId } = JSON.parse(String(reply?.body))
  return requestId
}
