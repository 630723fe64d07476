import type { Fixture } from '../../app/standalone/standalone.ts'

/** The fixture of the tests of `forgelet serve`. */
export const WORLD: Fixture = {
  users: [{ username: 'alice', siteAdmin: true, tokens: ['alice-token'] }, { username: 'sam' }],
  organizations: [{ name: 'acme', owners: ['alice'], blocks: [{ user: 'sam', note: 'spam' }] }],
  repositories: [
    {
      owner: 'acme',
      name: 'rocket',
      issues: [1, 2, 3].map((index) => ({ index, title: `Issue ${index}`, poster: 'alice' })),
      pins: [2],
    },
  ],
  badges: [{ slug: 'owl', holders: ['sam'] }],
}

/** The numbers of the issues that are pinned in it, as a server of this URL says. */
export async function pinned(url: string): Promise<readonly unknown[]> {
  const reply = await fetch(`${url}/repos/acme/rocket/issues/pinned`)
  return ((await reply.json()) as readonly { readonly number: number }[]).map(({ number }) => number)
}
