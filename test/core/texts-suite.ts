import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Forge } from '../../src/index.ts'
import { createForge, ForgeError } from '../../src/index.ts'
import type { StorageKind } from '../storage/databases/storage-kind.ts'
import type { Person } from './a-forge.ts'
import { olga } from './a-forge.ts'

const { signal } = new AbortController()

/** Every way by which a text of a caller reaches a storage, and the pointer that names it. */
const CALLS: readonly (readonly [string, string, <Tx>(forge: Forge<Person, Tx>, text: string) => unknown])[] = [
  ['badges.grant', '/slugs/1', ({ badges }, text) => badges.grant(olga, { userId: 9, slugs: ['owl', text] })],
  ['badges.revoke', '/slugs/1', ({ badges }, text) => badges.revoke(olga, { userId: 9, slugs: ['owl', text] })],
  ['catalogue.define', '/slug', ({ badges }, text) => badges.catalogue.define(olga, { slug: text })],
  [
    'catalogue.define',
    '/description',
    ({ badges }, text) => badges.catalogue.define(olga, { slug: 'bat', description: text }),
  ],
  [
    'catalogue.define',
    '/imageUrl',
    ({ badges }, text) => badges.catalogue.define(olga, { slug: 'bat', imageUrl: text }),
  ],
  [
    'catalogue.update',
    '/slug',
    ({ badges }, text) => badges.catalogue.update(olga, { slug: text, description: 'new' }),
  ],
  [
    'catalogue.update',
    '/description',
    ({ badges }, text) => badges.catalogue.update(olga, { slug: 'owl', description: text }),
  ],
  ['catalogue.remove', '/slug', ({ badges }, text) => badges.catalogue.remove(olga, text)],
  ['catalogue.find', '/slug', ({ badges }, text) => badges.catalogue.find(olga, text)],
  [
    'blocks.block',
    '/note',
    ({ blocks }, text) => blocks.block(olga, { organizationId: 5, account: { kind: 'user', id: 9 }, note: text }),
  ],
  ['events.consume', '/name', ({ events }, text) => events.consume(text, () => undefined, { signal })],
  ['events.forget', '/name', ({ events }, text) => events.forget(text)],
  ['events.list', '/types/0', ({ events }, text) => events.list({ types: [text as 'issue.pinned'] })], // any text of a host in JavaScript
]

const TEXTS = [
  ['with NUL', 'a\0b'],
  ['with half a surrogate pair', 'a\ud800b'],
] as const

/** Defines the tests of the texts of callers on one kind of storage. */
export function textsOn<Tx>(kind: StorageKind<Tx>): void {
  let forge: Forge<Person, Tx>

  beforeAll(async () => {
    forge = createForge<Person, Tx>({
      storage: await kind.open(),
      policy: { authorize: () => ({ allow: true }) },
      membership: { isMember: () => false },
    })
    await forge.badges.catalogue.define(olga, { slug: 'owl' })
  })

  afterAll(async () => {
    await forge.close()
    await kind.end()
  })

  describe.each(TEXTS)('a text %s', (_, text) => {
    test.each(CALLS)('is refused by %s as %s', async (_name, pointer, call) => {
      const refusal = await Promise.resolve(call(forge, text)).catch((error: unknown) => error)

      expect(refusal).toBeInstanceOf(ForgeError)
      expect(refusal).toMatchObject({ code: 'INVALID_INPUT', details: { violations: [{ pointer, code: 'text' }] } })
    })
  })
}
