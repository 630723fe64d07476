import type { Fixture } from '../standalone/fixture/fixture.ts'

/**
 * The default fixture of a test forge: an admin, an organization with an owner and a member, a user outside the
 * organization, and one repository.
 */
export const DEFAULT_FIXTURE: Fixture = {
  users: [
    { username: 'alice', fullName: 'Alice A', siteAdmin: true, tokens: ['alice-token'] },
    { username: 'olga', fullName: 'Olga Owner', tokens: ['olga-token'] },
    { username: 'mia', fullName: 'Mia Member', tokens: ['mia-token'] },
    { username: 'sam', fullName: 'Sam Stranger', tokens: ['sam-token'] },
  ],
  organizations: [{ name: 'acme', owners: ['olga'], members: ['mia'] }],
  repositories: [
    {
      owner: 'acme',
      name: 'rocket',
      issues: [
        { index: 1, title: 'Read this first', poster: 'mia' },
        { index: 2, title: 'The engine stutters', poster: 'sam' },
        { index: 3, title: 'Paint it red', poster: 'mia' },
        { index: 4, title: 'Land softly', poster: 'sam' },
        { index: 5, title: 'Add fins', poster: 'mia', pull: true },
      ],
    },
  ],
  badges: [
    { slug: 'night-owl', description: 'Ships after midnight' },
    { slug: 'first-flight', description: 'Merged a first change' },
  ],
}
