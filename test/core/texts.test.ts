import { expect, test } from 'vitest'
import type { Forge } from '../../src/index.ts'
import { ForgeError } from '../../src/index.ts'
import type { Person } from './a-forge.ts'
import { aForge, olga } from './a-forge.ts'

const { signal } = new AbortController()
const account = { kind: 'user', id: 9 } as const

type Call = (forge: Forge<Person, undefined>, text: string) => unknown

/** Every way by which a text of a caller would reach a storage, and the pointer that names it. No storage is asked. */
const CALLS: readonly (readonly [name: string, pointer: string, call: Call])[] = [
  ['badges.grant', '/slugs/1', ({ badges }, text) => badges.grant(olga, { userId: 9, slugs: ['owl', text] })],
  ['badges.revoke', '/slugs/1', ({ badges }, text) => badges.revoke(olga, { userId: 9, slugs: ['owl', text] })],
  ['define', '/slug', ({ badges }, slug) => badges.catalogue.define(olga, { slug })],
  ['define', '/description', ({ badges }, text) => badges.catalogue.define(olga, { slug: 'bat', description: text })],
  ['define', '/imageUrl', ({ badges }, text) => badges.catalogue.define(olga, { slug: 'bat', imageUrl: text })],
  ['update', '/slug', ({ badges }, slug) => badges.catalogue.update(olga, { slug, description: 'new' })],
  ['update', '/description', ({ badges }, text) => badges.catalogue.update(olga, { slug: 'owl', description: text })],
  ['remove', '/slug', ({ badges }, text) => badges.catalogue.remove(olga, text)],
  ['find', '/slug', ({ badges }, text) => badges.catalogue.find(olga, text)],
  ['blocks.block', '/note', ({ blocks }, note) => blocks.block(olga, { organizationId: 5, account, note })],
  ['events.consume', '/name', ({ events }, text) => events.consume(text, () => undefined, { signal })],
  ['events.forget', '/name', ({ events }, text) => events.forget(text)],
  ['events.list', '/types/0', ({ events }, text) => events.list({ types: [text as 'issue.pinned'] })], // any text of a host in JavaScript
]

test.each(
  CALLS.flatMap((call) => [['NUL', 'a\0b', ...call] as const, ['half a surrogate pair', 'a\ud800b', ...call] as const]),
)('a text with %s, %j, is refused by %s as %s', async (_what, text, _name, pointer, call) => {
  const forge = aForge()
  await forge.badges.catalogue.define(olga, { slug: 'owl' })
  const refusal = await Promise.resolve(call(forge, text)).catch((error: unknown) => error)

  expect(refusal).toBeInstanceOf(ForgeError)
  expect(refusal).toMatchObject({ code: 'INVALID_INPUT', details: { violations: [{ pointer, code: 'text' }] } })
})
