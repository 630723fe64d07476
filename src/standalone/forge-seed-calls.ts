import type { JoinedServices, Synchronous } from '../index.ts'
import type { StandaloneUser } from './host-ports.ts'
import type { Seed } from './seed.ts'

/** One call on the forge's services, inside a synchronous transaction or out of it. */
export type SeedCall = (forge: JoinedServices<StandaloneUser> | Synchronous<JoinedServices<StandaloneUser>>) => unknown

/** What a seed asks of the forge, in order; each answers with a promise where the services do, and is done before the next. */
export function forgeSeedCalls(seed: Seed): readonly SeedCall[] {
  const { badges, blocks, pins } = seed
  return [
    ...badges.map(
      (badge): SeedCall =>
        (forge) =>
          forge.badges.catalogue.define('system', badge),
    ),
    ...badges.flatMap(({ slug, holderIds }) =>
      holderIds.map(
        (userId): SeedCall =>
          (forge) =>
            forge.badges.grant('system', userId, [slug]),
      ),
    ),
    ...blocks.map(
      ({ organizationId, userId, note }): SeedCall =>
        (forge) =>
          forge.blocks.block('system', { organizationId, account: { kind: 'user', id: userId }, note }),
    ),
    ...pins.map(
      (issue): SeedCall =>
        (forge) =>
          forge.pins.pin('system', issue),
    ),
  ]
}
