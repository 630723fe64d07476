import { sql } from 'kysely'
import type { ForgeStorage } from '../../../../src/storage/contract/storage.ts'
import type { PinRow } from '../../../../src/storage/contract/stores.ts'
import { command } from '../../../../src/storage/sql/dialect.ts'
import type { SqlFault } from '../sql-fault.ts'
import type { StorageFault } from '../storage-fault.ts'
import { redecided } from '../storage-fault.ts'

/** Compares slugs without regard to case. */
export const foldsCase: StorageFault = (storage) => takingSlugsFor(storage, (slug) => slug.toLowerCase())

/** Compares slugs without regard to what ends them. */
export const ignoresTrailingBlanks: StorageFault = (storage) => takingSlugsFor(storage, (slug) => slug.trimEnd())

/** Takes for the same what only looks the same. */
export const composesCharacters: StorageFault = (storage) => takingSlugsFor(storage, (slug) => slug.normalize('NFC'))

/** Keeps slugs in a column whose database compares them without regard to case. */
export const collatesWithoutCase: SqlFault = {
  dialect: (dialect) => ({ ...dialect, types: { ...dialect.types, key: sql`text collate nocase` } }),
}

/** Keeps slugs in a column whose database ignores trailing blanks. */
export const collatesWithoutBlanks: SqlFault = {
  dialect: (dialect) => ({ ...dialect, types: { ...dialect.types, key: sql`text collate rtrim` } }),
}

/** Keeps slugs as the server would by default: case, accents and trailing blanks do not count, nor do most emoji. */
export const collatesByDefault: SqlFault = { afterMigration: ({ prefix }) => [collated(prefix, 'utf8mb4_general_ci')] }

/** Keeps slugs by their bytes, but for trailing blanks. */
export const collatesPadded: SqlFault = { afterMigration: ({ prefix }) => [collated(prefix, 'utf8mb4_bin')] }

/** Keeps no characters beyond the first plane. */
export const losesFourByteCharacters: StorageFault = ({ blocks, ...storage }) => ({
  ...storage,
  blocks: {
    ...blocks,
    update: (key, change) =>
      blocks.update(
        key,
        redecided(change, (decide) => (before, at) => {
          const decision = decide(before, at)
          const { state } = decision
          const { block } = state
          if (block === undefined || block === before.block) return decision
          return {
            ...decision,
            state: { ...state, block: { ...block, note: block.note.replaceAll(/[\u{10000}-\u{10ffff}]/gu, '?') } },
          }
        }),
      ),
  },
})

/** Cuts notes where a column counts bytes. */
export const cutsTexts: StorageFault = ({ blocks, ...storage }) => ({
  ...storage,
  blocks: {
    ...blocks,
    update: (key, change) =>
      blocks.update(
        key,
        redecided(change, (decide) => (before, at) => {
          const decision = decide(before, at)
          const { state } = decision
          const { block } = state
          if (block === undefined || block === before.block) return decision
          return { ...decision, state: { ...state, block: { ...block, note: [...block.note].slice(0, 191).join('') } } }
        }),
      ),
  },
})

/** Has a driver that reads large integers as numbers. */
export const roundsIds: StorageFault = ({ pinBoards, ...storage }) => ({
  ...storage,
  pinBoards: {
    ...pinBoards,
    load: async (key, transaction) =>
      (await pinBoards.load(key, transaction)).map((row) => ({ ...row, issueId: rounded(row.issueId) })),
  },
})

/** Compares ids as numbers, whatever they are. */
export const comparesIdsAsNumbers: SqlFault = {
  dialect: (dialect) => ({
    ...dialect,
    casts: { ...dialect.casts, id: { ...dialect.casts.id, text: dialect.casts.integer } },
  }),
}

/** Keeps whole seconds. */
export const keepsSeconds: StorageFault = ({ pinBoards, ...storage }) => ({
  ...storage,
  pinBoards: {
    ...pinBoards,
    load: async (key, transaction) =>
      (await pinBoards.load(key, transaction)).map((row) => ({ ...row, pinnedAt: toSeconds(row.pinnedAt) })),
  },
})

function takingSlugsFor<Tx>(storage: ForgeStorage<Tx>, as: (slug: string) => string): ForgeStorage<Tx> {
  const { userBadges, badgeCatalogue, ...others } = storage
  return {
    ...others,
    badgeCatalogue: {
      ...badgeCatalogue,
      update: ({ slug }, change) => badgeCatalogue.update({ slug: as(slug) }, change),
      find: (slug, transaction) => badgeCatalogue.find(as(slug), transaction),
    },
    userBadges: {
      ...userBadges,
      update: ({ userId, slugs }, change) => userBadges.update({ userId, slugs: slugs.map(as) }, change),
    },
  }
}

function collated(prefix: string, collation: string) {
  return command(
    `alter table ${prefix}badges modify slug varchar(255) character set utf8mb4 collate ${collation} not null`,
  )
}

function rounded(id: string): string {
  return /^-?\d+$/.test(id) ? String(BigInt(Number(id))) : id
}

function toSeconds(at: Date): Date {
  return new Date(Math.floor(at.getTime() / 1000) * 1000)
}

/** Keeps who pinned an issue first, no matter who pins it again. */
export const keepsWhoPinnedFirst: StorageFault = keepingOfFirstPins(({ pinnedBy }) => ({ pinnedBy }))

/** Keeps when an issue was pinned first, whenever it is pinned again. */
export const keepsWhenPinnedFirst: StorageFault = keepingOfFirstPins(({ pinnedAt }) => ({ pinnedAt }))

function keepingOfFirstPins(kept: (first: PinRow) => Partial<PinRow>): StorageFault {
  return ({ pinBoards, ...storage }) => ({
    ...storage,
    pinBoards: {
      ...pinBoards,
      update: (key, change) =>
        pinBoards.update(
          key,
          redecided(change, (decide) => (before, at) => {
            const decision = decide(before, at)
            if (decision.state === before) return decision

            const firstOf = (row: PinRow) => before.find((each) => each.issueId === row.issueId) ?? row
            return { ...decision, state: decision.state.map((row) => ({ ...row, ...kept(firstOf(row)) })) }
          }),
        ),
    },
  })
}
