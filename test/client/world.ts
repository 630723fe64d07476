/** A small world with every role in it, as a fixture file holds it. Each token is the user's name and `-token`. */
export const world: object = {
  users: ['root', 'olga', 'mia', 'ada', 'wim', 'rea', 'stan', 'eve', 'bob'].map((username) => ({
    username,
    siteAdmin: username === 'root',
    tokens: [`${username}-token`],
  })),
  organizations: [
    { name: 'acme', owners: ['olga'], members: ['mia'] },
    { name: 'hidden', visibility: 'private', owners: ['olga'], members: ['mia'] },
  ],
  repositories: [
    {
      owner: 'acme',
      name: 'rocket',
      admins: ['ada'],
      writers: ['wim'],
      readers: ['rea'],
      issues: [
        ...[1, 2, 3, 4, 5].map((index) => ({ index, title: `Issue ${index}`, poster: 'mia' })),
        ...[6, 7].map((index) => ({ index, title: `Pull ${index}`, poster: 'wim', pull: true })),
      ],
    },
    {
      owner: 'acme',
      name: 'secret',
      private: true,
      admins: ['ada'],
      writers: ['wim'],
      readers: ['rea'],
      issues: [{ index: 1, title: 'Hush', poster: 'mia' }],
    },
    { owner: 'olga', name: 'own', issues: [{ index: 1, title: 'Mine', poster: 'olga' }] },
  ],
  badges: [{ slug: 'night-owl', description: 'Ships after midnight' }, { slug: 'founder' }, { slug: 'mentor' }],
} as const
