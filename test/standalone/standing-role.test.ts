import { describe, expect, test } from 'vitest'
import { organizationRole, repositoryRole } from '../../src/standalone/host-ports.ts'
import type { RepositoryAccess } from '../../src/standalone/host-store/host-store.ts'

const outsider: RepositoryAccess = {
  isPrivate: false,
  ownerVisibility: 'public',
  isOwner: false,
  membership: undefined,
  collaboration: undefined,
}
const closed: RepositoryAccess = { ...outsider, isPrivate: true }
const concealed: RepositoryAccess = { ...outsider, ownerVisibility: 'private' }

describe('the role in a repository', () => {
  const cases: readonly (readonly [
    title: string,
    standing: RepositoryAccess | undefined,
    signedIn: boolean,
    role: string,
  ])[] = [
    ['of its owner', { ...closed, isOwner: true }, true, 'admin'],
    ['of an owner of its organization', { ...closed, membership: 'owner' }, true, 'admin'],
    ['of an admin', { ...closed, collaboration: 'admin' }, true, 'admin'],
    ['of a writer', { ...closed, collaboration: 'writer' }, true, 'writer'],
    ['of a reader', { ...closed, collaboration: 'reader' }, true, 'reader'],
    ['of a member of its organization', { ...closed, membership: 'member' }, true, 'reader'],
    ['of a member who is admin', { ...closed, membership: 'member', collaboration: 'admin' }, true, 'admin'],
    ['of a stranger, when private', closed, true, 'none'],
    ['of a stranger, when public', outsider, true, 'reader'],
    ['of an anonymous caller, when public', outsider, false, 'reader'],
    ['of an anonymous caller, when private', closed, false, 'none'],
    ['of a stranger to its private owner', concealed, true, 'none'],
    ['of a reader with a private owner', { ...concealed, collaboration: 'reader' }, true, 'reader'],
    ['of a signed-in stranger, of a limited owner', { ...outsider, ownerVisibility: 'limited' }, true, 'reader'],
    ['of an anonymous caller, of a limited owner', { ...outsider, ownerVisibility: 'limited' }, false, 'none'],
    ['when it is missing', undefined, true, 'none'],
  ]
  test.each(cases)('%s', (_, standing, signedIn, role) => {
    expect(repositoryRole(standing, signedIn)).toBe(role)
  })
})

describe('the role in an organization', () => {
  test.each([
    ['of an owner', 'private', 'owner', true, 'owner'],
    ['of a member', 'private', 'member', true, 'member'],
    ['of a stranger, when private', 'private', undefined, true, 'none'],
    ['of a stranger, when limited', 'limited', undefined, true, 'stranger'],
    ['of an anonymous caller, when limited', 'limited', undefined, false, 'none'],
    ['of an anonymous caller, when public', 'public', undefined, false, 'stranger'],
  ] as const)('%s', (_, visibility, membership, signedIn, role) => {
    expect(organizationRole({ visibility, membership }, signedIn)).toBe(role)
  })

  test('when it is missing', () => {
    expect(organizationRole(undefined, true)).toBe('none')
  })
})
