import { expect, test } from 'vitest'
import type { SqlStorageOptions } from '../../../src/storage/sqlite.ts'
import type { ForgeStorage } from '../../../src/storage/storage.ts'
import { outcomeOf } from '../../../src/testing/storage-contract/cases/storage-case.ts'
import { block } from '../../../src/testing/storage-contract/samples/blocks.ts'
import { issuesOn, pin } from '../../../src/testing/storage-contract/samples/pin-boards.ts'
import { forgeOn } from '../forge-on.ts'
import { openHandle, openStorage } from './database-files.ts'

type IdColumns = NonNullable<SqlStorageOptions['ids']>
type IdColumn = NonNullable<IdColumns['user']>

const UUID = '0190a7c4-1b7e-7c3a-9f00-00000000000a'

const FITTING: readonly (readonly [IdColumn, string])[] = [
  ['bigint', '0'],
  ['bigint', '-7'],
  ['bigint', '9007199254740993'],
  ['bigint', '9223372036854775807'],
  ['bigint', '-9223372036854775808'],
  ['uuid', UUID],
  ['text', '0042'],
  ['text', 'night owl'],
  ['text', '夜-🦉'],
]

const NO_INTEGERS = ['0042', '+7', '-0', 'abc', '7abc', '1.5', '1e3', ' 7', '']
const TOO_LARGE = ['9223372036854775808', '-9223372036854775809', '99999999999999999999']
const UNFIT: readonly (readonly [IdColumn, string])[] = [
  ...[...NO_INTEGERS, ...TOO_LARGE].map((id) => ['bigint', id] as const),
  ...[UUID.toUpperCase(), UUID.replaceAll('-', ''), `{${UUID}}`, '7'].map((id) => ['uuid', id] as const),
]

test.each(FITTING)('a %s column keeps %s exactly as it is', async (column, id) => {
  const storage = await openStorage(':memory:', { ids: { repository: column, issue: column } })
  await pin(storage, { repositoryId: id, kind: 'issue' }, id)

  expect(await issuesOn(storage, { repositoryId: id, kind: 'issue' })).toEqual([id])
})

const NAMES: Readonly<Record<keyof IdColumns, (storage: ForgeStorage, id: string) => unknown>> = {
  repository: (storage, id) => pin(storage, { repositoryId: id, kind: 'issue' }, '1'),
  issue: (storage, id) => pin(storage, { repositoryId: '1', kind: 'issue' }, id),
  organization: (storage, id) => block(storage, id, '1'),
  user: (storage, id) => block(storage, '1', id),
}

test.each(UNFIT)('a %s column would not keep "%s": a TypeError that names the kind', async (column, id) => {
  for (const [kind, use] of Object.entries(NAMES)) {
    const storage = await openStorage(':memory:', { ids: { [kind]: column } })
    const message = expect.stringContaining(`${kind} id`)

    expect(await outcomeOf(() => use(storage, id))).toMatchObject({ thrown: { name: 'TypeError', message } })
  }
})

test('an upper-case UUID is taken as the UUID that it is', async () => {
  const storage = await openStorage(':memory:', { ids: { user: 'uuid', organization: 'uuid', issue: 'uuid' } })
  const forge = forgeOn(storage)
  const upper = UUID.toUpperCase()
  const issue = { repositoryId: 1, kind: 'issue' } as const
  await forge.pins.pin({ id: upper }, { ...issue, id: upper })
  await forge.pins.pin({ id: UUID }, { ...issue, id: UUID })
  const block = { organizationId: UUID, account: { kind: 'user', id: upper } } as const

  expect(await forge.pins.list('system', issue)).toMatchObject([{ issueId: UUID, pinnedBy: UUID }])
  await expect(forge.blocks.block({ id: UUID }, block)).rejects.toMatchObject({ code: 'CANNOT_BLOCK_SELF' })
})

test('a read of an id that does not fit is a TypeError at once', async () => {
  const storage = await openStorage(':memory:')

  expect(() => storage.pinBoards.load({ repositoryId: 'abc', kind: 'issue' })).toThrow(TypeError)
  expect(() => storage.blocks.epoch('abc')).toThrow(TypeError)
})

test('the columns have the types that the host joins on', async () => {
  const handle = openHandle(':memory:')
  await openStorage(handle, { ids: { user: 'uuid', organization: 'text' } })
  const types = handle.prepare("select name, type from pragma_table_info('forgelet_organization_blocks')").raw().all()

  expect(types).toContainEqual(['organization_id', 'TEXT'])
  expect(types).toContainEqual(['user_id', 'TEXT'])
  expect(types).toContainEqual(['blocked_at', 'INTEGER'])
})
