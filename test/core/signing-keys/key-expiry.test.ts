import { expect, test } from 'vitest'
import { settableClock } from '../../../app/testing/create-test-forge.ts'
import type { PublicKey } from '../../../src/index.ts'
import { aForge, olga } from '../a-forge.ts'

const DAY = 86_400_000

/** Requests a key that expires so many days from now on each of some days, and returns what was logged on each. */
async function warnings(
  daysLeft: number | undefined,
  days: readonly number[],
  isRevoked?: boolean,
): Promise<readonly string[]> {
  const began = new Date('2026-01-02T03:04:05Z')
  const clock = settableClock(began)
  const expiresAt = daysLeft === undefined ? undefined : new Date(began.getTime() + daysLeft * DAY)
  const key = { format: 'ssh', text: 'ssh-ed25519 AAAA\n', etag: '"1"', expiresAt, isRevoked } as const
  const lines: string[] = []
  const forge = aForge({
    signingKey: { format: 'ssh', publicKey: () => key },
    clock,
    logger: { error: (line) => lines.push(line), warn: (line) => lines.push(line) },
  })
  const logged: string[] = []
  for (const day of days) {
    clock.set(new Date(began.getTime() + day * DAY))
    await forge.signingKeys.publicKey(olga, { format: 'ssh' })
    logged.push(lines.splice(0).join())
  }
  return logged
}

const SOON = 'the signing key expires soon; extend it, or sign with another'
const PAST = 'the signing key has expired; extend it, or sign with another'

test('a key that expires is warned of once a day, from 30 days before, and when it has expired', async () => {
  expect(await warnings(32, [0, 1.9, 2, 2.5, 2.99, 3, 31.9, 32, 33, 33.5])).toEqual([
    ...['', '', SOON, '', '', SOON, SOON, PAST, PAST, ''],
  ])
})

test.each([[undefined], [10]])('a revoked key is warned of once a day: it expires in %o', async (left) => {
  const revoked = 'the signing key is revoked; sign with another'
  expect(await warnings(left, [0, 0.5, 1, 1.5, 40], true)).toEqual([revoked, '', revoked, '', revoked])
})

test('each fault of each key is warned of once a day, whichever others were', async () => {
  const began = new Date('2026-01-02T03:04:05Z')
  const clock = settableClock(began)
  const expiresAt = new Date(began.getTime() + DAY / 2)
  const a = { format: 'ssh', text: 'ssh-ed25519 A\n', etag: '"1"' } as const
  const b = { format: 'ssh', text: 'ssh-ed25519 B\n', etag: '"2"' } as const
  let key: PublicKey = { ...a, expiresAt, isRevoked: false }
  const lines: string[] = []
  const forge = aForge({
    signingKey: { format: 'ssh', publicKey: () => key },
    clock,
    logger: { error: (line) => lines.push(line), warn: (line) => lines.push(line) },
  })
  const logged = async (hours: number, next: PublicKey) => {
    key = next
    clock.set(new Date(began.getTime() + (hours * DAY) / 24))
    await forge.signingKeys.publicKey(olga, { format: 'ssh' })
    return lines.splice(0).join()
  }
  const soon = { ...key }
  const revoked = { ...b, expiresAt, isRevoked: true }
  const REVOKED = 'the signing key is revoked; sign with another'

  expect(await logged(0, soon)).toBe(SOON)
  expect(await logged(1, revoked)).toBe(REVOKED)
  expect(await logged(2, { ...soon, isRevoked: true })).toBe(REVOKED)
  expect(await logged(3, revoked)).toBe('')
  expect(await logged(13, soon)).toBe(PAST)
  expect(await logged(24.5, soon)).toBe('')
  expect(await logged(25, revoked)).toBe(REVOKED)
})
