import { randomBytes } from 'node:crypto'
import { ForgeError } from 'forgelet'
import { tokenDigest } from '../host-names.ts'
import type { Steps } from '../steps.ts'
import type { HostDatabase } from './host-database.ts'
import { HostDirectory } from './host-directory.ts'
import type { DatabaseLocation } from './open-host-database.ts'
import { onReadyDatabase } from './open-host-database.ts'
import type { RowWriter } from './row-writer.ts'
import { sql } from './sql.ts'
import type { Row } from './tables.ts'

/** An access token of a user, without the token itself: only its SHA-256 is stored. */
export interface AccessToken {
  /** The first 12 hexadecimal digits of the token's SHA-256. */
  readonly id: string
  /** Undefined if the token has no name, like those of a fixture. */
  readonly name: string | undefined
  /** Undefined for a token of a fixture. */
  readonly createdAt: Date | undefined
}

/** A token that was just created. */
export interface CreatedAccessToken extends AccessToken {
  /** The token: 40 hexadecimal digits. It cannot be shown again. */
  readonly token: string
}

const TOKEN_BYTES = 20
const ID_LENGTH = 12

/**
 * Creates an access token. Every server of the database accepts it at once.
 *
 * @param name - what the token is for
 * @throws ForgeError `USER_NOT_FOUND`; `SCHEMA_OUTDATED` if no server of this release has set up the database yet;
 * `STORAGE_UNAVAILABLE`, `STORAGE_BUSY`
 */
export function createAccessToken(
  location: DatabaseLocation,
  username: string,
  name?: string | undefined,
): Promise<CreatedAccessToken> {
  return onUser(location, username, (database, userId) => database.write((writer) => insertToken(writer, userId, name)))
}

/** Inserts a new token of a user. */
export function* insertToken(writer: RowWriter, userId: number, name?: string): Steps<CreatedAccessToken> {
  const token = randomBytes(TOKEN_BYTES).toString('hex')
  const row = { digest: tokenDigest(token), user_id: userId, name: name ?? null, created_at: Date.now() }
  yield* writer.insert('tokens', [row])
  return { ...shown(row), token }
}

/** Lists the access tokens of a user, the oldest first. @throws ForgeError as `createAccessToken` does */
export function listAccessTokens(location: DatabaseLocation, username: string): Promise<readonly AccessToken[]> {
  return onUser(location, username, async (database, userId) => (await tokensOf(database, userId)).map(shown))
}

/**
 * Revokes an access token of a user. From now on every server of the database refuses it. Returns false if the user has
 * no such token.
 *
 * @param id - as `listAccessTokens` returns it
 * @throws ForgeError as `createAccessToken` does
 */
export function revokeAccessToken(location: DatabaseLocation, username: string, id: string): Promise<boolean> {
  return onUser(location, username, async (database, userId) => {
    const found = (await tokensOf(database, userId)).filter((row) => shown(row).id === id)
    for (const { digest } of found) {
      const tokens = database.context.table('tokens')
      await database.write(({ rows }) => rows(sql`delete from ${tokens} where digest = ${digest}`))
    }
    return found.length > 0
  })
}

function onUser<T>(
  location: DatabaseLocation,
  username: string,
  work: <Tx>(database: HostDatabase<Tx>, userId: number) => Promise<T>,
): Promise<T> {
  return onReadyDatabase(location, async (database) => {
    const account = await new HostDirectory(database).findAccount(username)
    if (account?.kind !== 'user') throw new ForgeError('USER_NOT_FOUND', 'no user has this name')
    return work(database, Number(account.id))
  })
}

/** Returns the tokens of a user, the oldest first. */
async function tokensOf<Tx>(database: HostDatabase<Tx>, userId: number): Promise<readonly Row<'tokens'>[]> {
  const { table, columnsOf } = database.context
  const rows = await database.rows(
    sql<Row<'tokens'>>`select ${columnsOf('tokens')} from ${table('tokens')} as tokens where user_id = ${userId}`,
  )
  return rows.toSorted((one, other) => (one.created_at ?? 0) - (other.created_at ?? 0))
}

function shown({ digest, name, created_at }: Row<'tokens'>): AccessToken {
  return {
    id: digest.slice(0, ID_LENGTH),
    name: name ?? undefined,
    createdAt: created_at === null ? undefined : new Date(created_at),
  }
}
