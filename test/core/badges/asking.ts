import type { Asking } from '../asking.ts'

const grants = { userId: 9, slugs: [] }

export const asking: readonly Asking[] = [
  {
    about: { userId: '9' },
    concealed: 'USER_NOT_FOUND',
    methods: [
      ['badges.grant', 'badges.grant', ({ badges }, who) => badges.grant(who, grants)],
      ['badges.revoke', 'badges.grant', ({ badges }, who) => badges.revoke(who, grants)],
      ['badges.heldBy', 'badges.read', ({ badges }, who) => badges.heldBy(who, 9)],
    ],
  },
  {
    about: {},
    concealed: 'USER_NOT_FOUND',
    methods: [
      ['badges.heldByMany', 'badges.read', ({ badges }, who) => badges.heldByMany(who, [8, 9])],
      ['badges.holders', 'badges.read', ({ badges }, who) => badges.holders(who, { slug: 'owl' })],
    ],
  },
  {
    about: {},
    concealed: 'FORBIDDEN',
    methods: [
      [
        'badges.catalogue.define',
        'badges.catalogue.write',
        ({ badges }, who) => badges.catalogue.define(who, { slug: 'a' }),
      ],
      [
        'badges.catalogue.update',
        'badges.catalogue.write',
        ({ badges }, who) => badges.catalogue.update(who, { slug: 'a' }),
      ],
      ['badges.catalogue.remove', 'badges.catalogue.write', ({ badges }, who) => badges.catalogue.remove(who, 'a')],
      ['badges.catalogue.find', 'badges.catalogue.read', ({ badges }, who) => badges.catalogue.find(who, 'a')],
      ['badges.catalogue.list', 'badges.catalogue.read', ({ badges }, who) => badges.catalogue.list(who)],
    ],
  },
]
