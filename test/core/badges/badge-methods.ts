import type { AskingMethod } from '../asking.ts'
import { methodsAbout } from '../asking.ts'

const grants = { userId: 9, slugs: [] }
const owl = { slug: 'owl' }

/** The methods of badges and of their catalogue. */
export const badgeMethods: readonly AskingMethod[] = [
  ...methodsAbout({ userId: '9' }, 'USER_NOT_FOUND', [
    ['badges.grant', 'badges.grant', ({ badges }, who) => badges.grant(who, grants)],
    ['badges.revoke', 'badges.grant', ({ badges }, who) => badges.revoke(who, grants)],
    ['badges.heldBy', 'badges.read', ({ badges }, who) => badges.heldBy(who, 9)],
  ]),
  ...methodsAbout({}, 'USER_NOT_FOUND', [
    ['badges.heldByMany', 'badges.read', ({ badges }, who) => badges.heldByMany(who, [8, 9])],
    ['badges.holders', 'badges.read', ({ badges }, who) => badges.holders(who, owl)],
  ]),
  ...methodsAbout({}, 'FORBIDDEN', [
    ['badges.catalogue.define', 'badges.catalogue.write', ({ badges }, who) => badges.catalogue.define(who, owl)],
    ['badges.catalogue.update', 'badges.catalogue.write', ({ badges }, who) => badges.catalogue.update(who, owl)],
    ['badges.catalogue.remove', 'badges.catalogue.write', ({ badges }, who) => badges.catalogue.remove(who, 'a')],
    ['badges.catalogue.find', 'badges.catalogue.read', ({ badges }, who) => badges.catalogue.find(who, 'a')],
    ['badges.catalogue.list', 'badges.catalogue.read', ({ badges }, who) => badges.catalogue.list(who)],
  ]),
]
