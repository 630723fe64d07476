import { expect, test } from 'vitest'
import { rolePolicy, tableRoles } from '../../src/index.ts'

const host = { standingInRepository: () => undefined, standingInOrganization: () => undefined }
const person = { id: 1 }
const policyOf = (answer: unknown) =>
  rolePolicy(tableRoles<typeof person, undefined>({ host }, { admin: () => answer as boolean }))
const ask = (answer: unknown) => policyOf(answer).authorize({ action: 'events.read' }, { actor: person } as never)

test.each([
  [1, 'number'],
  [undefined, 'undefined'],
  [null, 'object'],
  ['yes', '"yes"'],
])('an admin that returns %j is named as the host wrote it, at once or later', async (answer, named) => {
  const message = `tableRoles: admin must return true or false; it returned ${named}`

  expect(() => ask(answer)).toThrow(new TypeError(message))
  await expect(ask(Promise.resolve(answer))).rejects.toThrow(new TypeError(message))
})

test('an admin that returns true or false decides, at once or later', async () => {
  for (const answer of [true, Promise.resolve(true)]) expect(await ask(answer)).toEqual({ allow: true })
  for (const answer of [false, Promise.resolve(false)]) expect(await ask(answer)).toMatchObject({ allow: false })
})

test('who owns a repository is its admin, and sees it when it is private', async () => {
  const standing = { isOwner: true, isMember: true, isPrivate: true }
  const roles = tableRoles<typeof person, undefined>(
    { host: { ...host, standingInRepository: () => standing } },
    { admin: () => false },
  )

  expect(await roles.repositoryRole('11', { actor: person, transaction: undefined })).toBe('admin')
})
