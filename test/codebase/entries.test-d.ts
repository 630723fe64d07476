import { describe, expectTypeOf, it } from 'vitest'
import type { ForgeError, ForgeErrorCode } from '../../src/index.ts'
import { isForgeError } from '../../src/index.ts'
import type { ChangeCircumstances, ChangeDecision, ForgeStorage, PinRow } from '../../src/storage/storage.ts'

describe('"forgelet"', () => {
  it('narrows the details of an error by its code', () => {
    const limitOf = (error: ForgeError): number => {
      if (error.code === 'PIN_LIMIT_REACHED') return error.details.limit
      // @ts-expect-error: the other codes have no limit
      return error.details.limit
    }

    expectTypeOf(limitOf).returns.toBeNumber()
  })

  it('knows the details of a code that was asked for', () => {
    const slugsOf = (error: unknown) => (isForgeError(error, 'UNKNOWN_BADGE') ? error.details.slugs : [])

    expectTypeOf(slugsOf).returns.toEqualTypeOf<readonly string[]>()
  })

  it('refuses an invalid code', () => {
    expectTypeOf<'NO_SUCH_CODE'>().not.toExtend<ForgeErrorCode>()
  })
})

describe('"forgelet/storage"', () => {
  type Decide = ChangeDecision<readonly PinRow[], void>

  it('has decisions that are made at once', () => {
    expectTypeOf<() => Promise<ReturnType<Decide>>>().not.toExtend<Decide>()
  })

  it('shows what a storage keeps as read only', () => {
    expectTypeOf<Parameters<Decide>[0]>().not.toExtend<PinRow[]>()
  })

  it('takes the decision that a change prepares', () => {
    const update = (storage: ForgeStorage<'open'>, circumstances: ChangeCircumstances<'open'>) =>
      storage.issueImports.update(
        { repositoryId: '10' },
        {
          ...circumstances,
          prepare: async (prepared, transaction) => (state) => ({
            state,
            events: [],
            result: { prepared, transaction },
          }),
        },
      )
    type Prepared = Awaited<ReturnType<typeof update>>['result']

    expectTypeOf<Prepared>().toEqualTypeOf<{ prepared: undefined; transaction: 'open' }>()
  })

  it('distinguishes the transactions of two drivers', () => {
    expectTypeOf<ForgeStorage<{ readonly prepare: unknown }>>().not.toExtend<
      ForgeStorage<{ readonly query: unknown }>
    >()
  })
})
