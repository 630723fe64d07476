import type { Fixture } from '../../app/standalone/standalone.ts'

/** A world with one of everything, for the tests of the standalone host. */
export const WORLD: Fixture = {
  users: [
    { username: 'Alice', fullName: 'Alice A', email: 'alice@example.com', siteAdmin: true, tokens: ['alice-token'] },
    { username: 'olga', tokens: ['olga-token', 'olga-second'] },
    { username: 'mia', fullName: 'Mia K', hideEmail: true, createdAt: '2024-03-02T09:00:00+01:00' },
    { username: 'sam', visibility: 'private' },
    { username: 'walt' },
  ],
  organizations: [
    { name: 'Acme', owners: ['olga'], members: ['mia'], blocks: [{ user: 'SAM', note: 'spam' }] },
    { name: 'hidden', visibility: 'private', owners: ['olga'], members: ['mia'] },
    { name: 'indoors', visibility: 'limited', owners: ['olga'] },
  ],
  repositories: [
    {
      owner: 'acme',
      name: 'Rocket',
      description: 'Goes up',
      admins: ['walt'],
      labels: [{ name: 'bug', color: 'EE0701', description: 'Broken' }, { name: 'idea' }],
      issues: [
        {
          index: 1,
          title: 'Read this first',
          body: 'Rules',
          poster: 'mia',
          labels: ['idea', 'BUG'],
          assignees: ['olga', 'walt'],
          comments: 2,
          createdAt: '2026-01-05T10:00:00Z',
          updatedAt: '2026-02-01T09:30:00Z',
        },
        { index: 2, title: 'Add fins', poster: 'sam', pull: true, branch: 'fins', createdAt: '2026-01-06T10:00:00Z' },
        { index: 7, title: 'Old', poster: 'mia', state: 'closed', locked: true, closedAt: '2026-01-07T10:00:00Z' },
        { index: 8, title: 'WIP: paint', poster: 'walt', pull: true },
      ],
      pins: [7, 2, 1],
    },
    { owner: 'acme', name: 'vault', private: true, writers: ['walt'], readers: ['sam'] },
    { owner: 'hidden', name: 'plans', admins: ['mia'] },
    { owner: 'indoors', name: 'notes' },
    { owner: 'sam', name: 'rocket', private: true, archived: true, readers: ['walt'], admins: ['walt'] },
  ],
  badges: [
    { slug: 'night-owl', description: 'Late', imageUrl: 'https://example.com/owl.png', holders: ['mia', 'olga'] },
    { slug: 'founder' },
  ],
}
