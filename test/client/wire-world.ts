const createdAt = '2026-01-01T00:00:00Z'
const PEOPLE = ['root', 'olga', 'mia', 'ada', 'will', 'rita', 'stan', 'gone']

/**
 * The world of the wire cases, as a fixture.
 *
 * @param titleOf - the title of an issue or pull request of acme/rocket
 */
export function wireWorld(titleOf: (index: number) => string): object {
  return {
    users: PEOPLE.map((username) => ({ username, tokens: [username], siteAdmin: username === 'root', createdAt })),
    organizations: [
      { name: 'acme', owners: ['olga'], members: ['mia'], createdAt },
      { name: 'hidden', visibility: 'private', owners: ['olga'], members: ['mia'], createdAt },
    ],
    repositories: [
      {
        owner: 'acme',
        name: 'rocket',
        admins: ['ada'],
        labels: [{ name: 'bug 🐛' }, { name: 'idée' }],
        issues: [1, 2, 3, 4, 5, 6, 7, 8, 9].map((index) => ({
          index,
          pull: index > 5,
          title: titleOf(index),
          body: 'trailing blanks  \n\ttab, ﬁ ligature, ẞ, 𝔘𝔫𝔦𝔠𝔬𝔡𝔢',
          poster: 'stan',
          labels: ['idée', 'bug 🐛'],
          assignees: ['will', 'gone'],
          createdAt,
        })),
        createdAt,
      },
      {
        owner: 'acme',
        name: 'secret',
        private: true,
        admins: ['ada'],
        readers: ['will', 'rita'],
        issues: [{ index: 1, title: 'Hush', poster: 'mia', createdAt }],
        createdAt,
      },
    ],
    badges: [
      { slug: 'night-owl', description: 'The night-owl', imageUrl: 'https://example.com/night-owl.png' },
      { slug: 'founder', description: 'The founder', imageUrl: 'https://example.com/founder.png' },
    ],
  }
}
