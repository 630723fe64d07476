import { createHash, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { openpgpKey, sshKey } from '../../src/signing-keys/signing-keys.ts'
import { field, packet, pem } from './key-bytes.ts'

async function ssh(key: string): Promise<string> {
  return (await sshKey(key).publicKey()).text
}

async function openpgp(key: string | Uint8Array): Promise<string> {
  return (await openpgpKey(key).publicKey()).text
}

/** An odd number that fills its bytes. */
function oddNumber(bytes: number): Buffer {
  return randomBytes(bytes)
    .fill(0x81, 0, 1)
    .fill(0x81, bytes - 1)
}

/** An OpenPGP key of DSA whose numbers are so large that a signature takes minutes to verify, with one. */
function largeOpenpgpDsa(): Uint8Array {
  const mpi = (number: Buffer) =>
    Buffer.concat([Buffer.of((number.length * 8) >> 8, (number.length * 8) & 255), number])
  const numbers = [7000, 6900, 6800, 6800].map((bytes) => mpi(oddNumber(bytes)))
  const key = Buffer.concat([Buffer.of(4, 0, 0, 0, 1, 17), ...numbers])
  const head = Buffer.of(0x99, key.length >> 8, key.length & 255)
  const user = Buffer.from('Forge')
  const id = createHash('sha1').update(head).update(key).digest()
  const covered = Buffer.concat([Buffer.of(4, 0x13, 17, 8, 0, 29, 5, 2, 0, 0, 0, 1, 22, 33, 4), id])
  const hash = createHash('sha256').update(head).update(key)
  hash
    .update(Buffer.of(0xb4, 0, 0, 0, user.length))
    .update(user)
    .update(covered)
  const digest = hash.update(Buffer.of(4, 0xff, 0, 0, 0, covered.length)).digest()
  const numbersOf = [6000, 6000].map((bytes) => mpi(oddNumber(bytes)))
  const signature = Buffer.concat([covered, Buffer.of(0, 0), digest.subarray(0, 2), ...numbersOf])
  const packets = [
    { tag: 6, body: key },
    { tag: 13, body: user },
    { tag: 2, body: signature },
  ]
  return Buffer.concat(packets.map((each) => packet(each)))
}

// Each takes a moment. A rule that tried every way to read them, or computed with such numbers, would take minutes.
test.each<readonly [what: string, reason: string, read: () => Promise<unknown>]>([
  ['60 kB of blanks in an SSH line', 'damaged', () => ssh(`ssh-ed25519 A${' '.repeat(60_000)}\u2028x`)],
  ['60 kB of one word in a comment', 'damaged', () => ssh(`ssh-ed25519 AAAA ${'a'.repeat(60_000)}`)],
  ['an OpenPGP key of DSA with 28 kB', 'no user id', () => openpgp(largeOpenpgpDsa())],
  ['120 kB of carriage returns', 'damaged', () => ssh(`ssh-ed25519 ${'A'.repeat(68)}${'\r'.repeat(60_000)}`)],
  ['120 kB of armor headers', 'cut off', () => openpgp(`-----BEGIN PGP A-----\n${'a: b\n'.repeat(24_000)}`)],
  ['120 kB of BEGIN', 'neither', () => openpgp('-----BEGIN '.repeat(11_000))],
  ['an SSH line of more than 64 KiB', 'at most 64 KiB', () => ssh(`ssh-ed25519 AAAA ${'é'.repeat(40_000)}`)],
  ['PEM of more than 64 KiB', 'at most 64 KiB', () => ssh(pem('PRIVATE KEY', randomBytes(50_000)))],
  ['more than 128 KiB in binary', 'larger than 128 KiB', () => openpgp(Buffer.alloc(131_073, 0x99))],
  ['more than 128 KiB of text', 'larger than 128 KiB', () => openpgp('a'.repeat(131_073))],
])('%s: refused as %s', async (_what, reason, read) => {
  await expect(read()).rejects.toThrow(reason)
})

test('an SSH key of RSA may have 16,384 bits, and a line 64 KiB', async () => {
  const fields = ['ssh-rsa', Buffer.of(1, 0, 1), Buffer.concat([Buffer.of(0), oddNumber(2048)])].map(field)
  const longest = `ssh-rsa ${Buffer.concat(fields).toString('base64')}\n`
  const line = `${longest.trim()} ${'a comment '.repeat(10_000)}`.slice(0, 65_535).trimEnd()

  expect(await ssh(longest)).toBe(longest)
  expect(await ssh(line)).toBe(`${line}\n`)
})
