import type { Face } from '../face.ts'
import { face } from '../face.ts'
import type { Actor } from '../ports.ts'
import type { BadgeService } from '../services.ts'
import type { BadgeOperations } from './badge-operations.ts'
import type { CatalogueOperations } from './catalogue-operations.ts'

/** The badge service, and the catalogue's in it, over their operations. */
export function badgeService<A extends Actor, Tx>(
  badges: BadgeOperations<A, Tx>,
  catalogue: CatalogueOperations<A, Tx>,
): Face<BadgeService<A>, A, Tx> {
  return face<BadgeService<A>, A, Tx>((open, perform) => ({
    grant: (actor, userId, slugs, options) => perform(badges.grant(open(actor, options), userId, slugs)),
    revoke: (actor, userId, slugs, options) => perform(badges.revoke(open(actor, options), userId, slugs)),
    heldBy: (actor, userId, options) => perform(badges.heldBy(open(actor, options), userId)),
    catalogue: {
      define: (actor, badge, options) => perform(catalogue.define(open(actor, options), badge)),
      update: (actor, slug, change, options) => perform(catalogue.update(open(actor, options), slug, change)),
      remove: (actor, slug, options) => perform(catalogue.remove(open(actor, options), slug)),
      find: (actor, slug, options) => perform(catalogue.find(open(actor, options), slug)),
      list: (actor, page, options) => perform(catalogue.list(open(actor, options), page)),
    },
  }))
}
