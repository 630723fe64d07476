import { createHash, randomBytes } from 'node:crypto'
import { generateKey, readKey } from 'openpgp'
import { expect, test } from 'vitest'
import { openpgpKey, sshKey } from '../../src/signing-keys/signing-keys.ts'
import { der, field, integer, oddNumber, packet, pem } from './key-bytes.ts'

/** The longest time in milliseconds for which nothing else ran. */
async function longestStall(work: () => Promise<unknown>): Promise<number> {
  let [stall, last] = [0, performance.now()]
  let isOver = false
  const look = () => {
    stall = Math.max(stall, performance.now() - last)
    last = performance.now()
    if (!isOver) setImmediate(look)
  }
  setImmediate(look)
  await work()
  isOver = true
  return Math.max(stall, performance.now() - last)
}

async function ssh(key: string): Promise<string> {
  return (await sshKey(key).publicKey()).text
}

async function openpgp(key: string | Uint8Array): Promise<string> {
  return (await openpgpKey(key).publicKey()).text
}

/** A DSA key whose numbers are so large that its public half takes minutes to compute. */
function largeDsa(): string {
  const [prime, order, base] = [oddNumber(3700), oddNumber(3700), oddNumber(3600)]
  const parameters = der(0x30, integer(prime), integer(order), integer(base))
  const algorithm = der(0x30, der(0x06, Buffer.from('2a8648ce380401', 'hex')), parameters)
  return pem('PRIVATE KEY', der(0x30, Buffer.of(2, 1, 0), algorithm, der(0x04, integer(oddNumber(3700)))))
}

/** An OpenPGP key of DSA whose numbers are so large that a signature takes minutes to verify, with one. */
function largeOpenpgpDsa(): Uint8Array {
  const mpi = (number: Buffer) =>
    Buffer.concat([Buffer.of((number.length * 8) >> 8, (number.length * 8) & 255), number])
  const numbers = [7000, 6900, 6800, 6800].map((bytes) => mpi(oddNumber(bytes)))
  const key = Buffer.concat([Buffer.of(4, 0, 0, 0, 1, 17), ...numbers])
  const [hash, user] = [createHash('sha256'), Buffer.from('Forge')]
  const id = createHash('sha1')
    .update(Buffer.of(0x99, key.length >> 8, key.length & 255))
    .update(key)
    .digest()
  const covered = Buffer.concat([Buffer.of(4, 0x13, 17, 8, 0, 29, 5, 2, 0, 0, 0, 1, 22, 33, 4), id])
  hash.update(Buffer.of(0x99, key.length >> 8, key.length & 255)).update(key)
  hash.update(Buffer.of(0xb4, 0, 0, 0, user.length)).update(user)
  const digest = hash
    .update(covered)
    .update(Buffer.of(4, 0xff, 0, 0, 0, covered.length))
    .digest()
  const numbersOf = [6000, 6000].map((bytes) => mpi(oddNumber(bytes)))
  const signature = Buffer.concat([covered, Buffer.of(0, 0), digest.subarray(0, 2), ...numbersOf])
  const packets = [
    { tag: 6, body: key },
    { tag: 13, body: user },
    { tag: 2, body: signature },
  ]
  return Buffer.concat(packets.map((each) => packet(each)))
}

test.each<readonly [what: string, reason: string, read: () => Promise<unknown>]>([
  ['60 kB of blanks in an SSH line', 'damaged', () => ssh(`ssh-ed25519 A${' '.repeat(60_000)}\u2028x`)],
  ['60 kB of one word in a comment', 'damaged', () => ssh(`ssh-ed25519 AAAA ${'a'.repeat(60_000)}`)],
  ['a DSA key of 15 kB in PKCS#8', 'not supported', () => ssh(largeDsa())],
  ['an OpenPGP key of DSA with 28 kB', 'no user id', () => openpgp(largeOpenpgpDsa())],
  ['120 kB of carriage returns', 'damaged', () => ssh(`ssh-ed25519 ${'A'.repeat(68)}${'\r'.repeat(60_000)}`)],
  ['120 kB of armor headers', 'cut off', () => openpgp(`-----BEGIN PGP A-----\n${'a: b\n'.repeat(24_000)}`)],
  ['120 kB of BEGIN', 'neither', () => openpgp('-----BEGIN '.repeat(11_000))],
  ['120 kB of words', 'neither', () => openpgp('ssh- '.repeat(24_000))],
  ['an SSH line of more than 64 KiB', 'at most 64 KiB', () => ssh(`ssh-ed25519 AAAA ${'é'.repeat(40_000)}`)],
  ['PEM of more than 64 KiB', 'at most 64 KiB', () => ssh(pem('PRIVATE KEY', randomBytes(50_000)))],
  ['more than 128 KiB in binary', 'larger than 128 KiB', () => openpgp(Buffer.alloc(131_073, 0x99))],
  ['more than 128 KiB of text', 'larger than 128 KiB', () => openpgp('a'.repeat(131_073))],
])('%s: refused as %s, before others notice', async (_what, reason, read) => {
  const stall = await longestStall(() => expect(read()).rejects.toThrow(reason))

  expect(stall).toBeLessThan(2000) // the worst of them takes a tenth of a second on an idle machine
})

test('an OpenPGP key of 500 user ids is served, from both halves, and others notice little', async () => {
  const userIDs = Array.from({ length: 500 }, (_, at) => ({ name: `Forge ${at}`, email: `forge-${at}@example.com` }))
  const { privateKey, publicKey } = await generateKey({ userIDs, format: 'binary' })
  const texts: string[] = []
  for (const key of [publicKey, privateKey]) {
    const stall = await longestStall(async () => texts.push(await openpgp(key)))

    expect(stall).toBeLessThan(2000) // reading it takes a fifth of a second of the processor in all
  }
  expect((await readKey({ armoredKey: texts[0] ?? '' })).users).toHaveLength(500)
  expect(texts[1]).toBe(texts[0])
})

test('an SSH key of RSA may have 16,384 bits, and a line 64 KiB', async () => {
  const fields = ['ssh-rsa', Buffer.of(1, 0, 1), Buffer.concat([Buffer.of(0), oddNumber(2048)])].map(field)
  const longest = `ssh-rsa ${Buffer.concat(fields).toString('base64')}\n`
  const line = `${longest.trim()} ${'a comment '.repeat(10_000)}`.slice(0, 65_535).trimEnd()

  expect(await ssh(longest)).toBe(longest)
  expect(await ssh(line)).toBe(`${line}\n`)
})
