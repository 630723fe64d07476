import type { JoinedServices, Synchronous } from '../index.ts'
import type { Census } from './census.ts'
import type { StandaloneUser } from './host-ports.ts'

/** One call on the forge's services, inside a synchronous transaction or out of it. */
export type Deed = (forge: JoinedServices<StandaloneUser> | Synchronous<JoinedServices<StandaloneUser>>) => unknown

/** What a census asks of the forge, in order; each answers with a promise where the services do, and is done before the next. */
export function forgeDeeds(census: Census): readonly Deed[] {
  const { badges, blocks, pins } = census
  return [
    ...badges.map(
      (badge): Deed =>
        (forge) =>
          forge.badges.catalogue.define('system', badge),
    ),
    ...badges.flatMap(({ slug, holderIds }) =>
      holderIds.map(
        (userId): Deed =>
          (forge) =>
            forge.badges.grant('system', userId, [slug]),
      ),
    ),
    ...blocks.map(
      ({ organizationId, userId, note }): Deed =>
        (forge) =>
          forge.blocks.block('system', { organizationId, account: { kind: 'user', id: userId }, note }),
    ),
    ...pins.map(
      (issue): Deed =>
        (forge) =>
          forge.pins.pin('system', issue),
    ),
  ]
}
