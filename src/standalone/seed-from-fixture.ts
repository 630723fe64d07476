import type { Fixture } from './fixture.ts'
import { FixtureIds } from './fixture-ids.ts'
import type { Seed } from './seed.ts'
import { membersOf, organizationAccount, userAccount } from './seed-accounts.ts'
import { collaboratorsOf, pinsOf, seedRepositories } from './seed-repositories.ts'
import { tokenDigest } from './token-digest.ts'

/**
 * Gives everyone and everything in a fixture an id, in the order of the fixture, from 1 up.
 *
 * @param fixture - a fixture that `parseFixture` has passed
 * @param now - the time of creation where the fixture names none
 */
export function seedFromFixture(fixture: Fixture, now: Date): Seed {
  const users = (fixture.users ?? []).map((user, at) => userAccount(user, String(at + 1), now))
  const firstOrganization = users.length + 1
  const organizations = (fixture.organizations ?? []).map((organization, at) =>
    organizationAccount(organization, String(firstOrganization + at), now),
  )
  const ids = new FixtureIds([...users, ...organizations])
  const repositories = seedRepositories(fixture.repositories ?? [], ids, now)

  return {
    accounts: [...users, ...organizations],
    tokens: (fixture.users ?? []).flatMap((user) =>
      (user.tokens ?? []).map((token) => ({ digest: tokenDigest(token), userId: ids.of(user.username) })),
    ),
    members: (fixture.organizations ?? []).flatMap((organization) => membersOf(organization, ids)),
    repositories: repositories.map((seeded) => seeded.repository),
    collaborators: repositories.flatMap((seeded) => collaboratorsOf(seeded, ids)),
    labels: repositories.flatMap((seeded) => seeded.labels),
    issues: repositories.flatMap((seeded) => seeded.issues),
    badges: (fixture.badges ?? []).map((badge) => ({
      slug: badge.slug,
      description: badge.description ?? '',
      imageUrl: badge.imageUrl ?? '',
      holderIds: ids.all(badge.holders),
    })),
    blocks: (fixture.organizations ?? []).flatMap((organization) =>
      (organization.blocks ?? []).map((block) => ({
        organizationId: ids.of(organization.name),
        userId: ids.of(block.user),
        note: block.note ?? '',
      })),
    ),
    pins: repositories.flatMap(pinsOf),
  }
}
