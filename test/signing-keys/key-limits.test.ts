import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { splitKeyText } from '../../src/signing-keys/key-text.ts'
import { openpgpKey, readArmor } from '../../src/signing-keys/openpgp.ts'
import { splitPackets } from '../../src/signing-keys/openpgp-packets.ts'
import { sshKey } from '../../src/signing-keys/ssh.ts'
import { sshInteger, sshString } from '../../src/signing-keys/ssh-line.ts'
import { der, integer, oddNumber, pem } from './der.ts'
import { OpenpgpMaker, openpgpNumber, packet } from './openpgp-maker.ts'

const unreadable = { code: 'SIGNING_KEY_UNREADABLE' }

/** The longest time in milliseconds for which nothing else ran, and what became of the work. */
async function longestStall(work: () => Promise<unknown>): Promise<{ readonly stall: number; readonly turns: number }> {
  let [stall, turns, last] = [0, 0, performance.now()]
  let isOver = false
  const look = () => {
    stall = Math.max(stall, performance.now() - last)
    last = performance.now()
    turns += 1
    if (!isOver) setImmediate(look)
  }
  setImmediate(look)
  await work()
  isOver = true
  return { stall: Math.max(stall, performance.now() - last), turns }
}

async function ssh(key: string): Promise<string> {
  return (await sshKey(key).publicKey()).text
}

async function openpgp(key: string | Uint8Array): Promise<string> {
  return (await openpgpKey(key).publicKey()).text
}

function packetsIn(armored: string): number {
  return splitKeyText(armored).blocks.flatMap((block) => splitPackets(readArmor(block).bytes)).length
}

const DSA = der(0x06, Buffer.from('2a8648ce380401', 'hex'))
const EC = der(0x06, Buffer.from('2a8648ce3d0201', 'hex'))
const P256 = der(0x06, Buffer.from('2a8648ce3d030107', 'hex'))
const VERSION = Buffer.of(2, 1, 0)

function pkcs8(algorithm: readonly Buffer[], key: Buffer): string {
  return pem('PRIVATE KEY', der(0x30, VERSION, der(0x30, ...algorithm), der(0x04, key)))
}

/** A DSA key whose numbers are so large that its public half takes minutes to compute. */
function largeDsa(): string {
  const [prime, order, base] = [oddNumber(3700), oddNumber(3700), oddNumber(3600)]
  return pkcs8([DSA, der(0x30, integer(prime), integer(order), integer(base))], integer(oddNumber(3700)))
}

/** A private number of 40,000 bytes on a curve of 32. */
function largeEc(): string {
  return pkcs8([EC, P256], der(0x30, Buffer.of(2, 1, 1), der(0x04, randomBytes(40_000))))
}

function rsaPublic(bytes: number, exponent: Buffer): string {
  return pem('RSA PUBLIC KEY', der(0x30, integer(oddNumber(bytes)), integer(exponent)))
}

describe('A key that would take long is refused at once', () => {
  const maker = new OpenpgpMaker()
  const whole = maker.key()
  const ed = `ssh-ed25519 ${'A'.repeat(68)}`
  const slow: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['60 kB of blanks in an SSH line', () => ssh(`ssh-ed25519 A${' '.repeat(60_000)}\u2028x`)],
    ['a DSA key of 15 kB in PKCS#8', () => ssh(largeDsa())],
    ['a private number of 40 kB on P-256', () => ssh(largeEc())],
    ['an RSA exponent of 20 kB', () => ssh(rsaPublic(20_000, oddNumber(20_000)))],
    ['1 MiB of carriage returns', () => ssh(`${ed}${'\r'.repeat(1_000_000)}`)],
    ['1 MiB of armor headers', () => openpgp(Buffer.from(`-----BEGIN PGP A-----\n${'a: b\n'.repeat(200_000)}`))],
    ['340,000 packets', () => openpgp(Buffer.concat([whole, Buffer.alloc(680_000, Buffer.of(0xcd, 0))]))],
    ['16,000 subkeys', () => openpgp(Buffer.concat([whole, ...Array(16_000).fill(packet(14, maker.body))]))],
    [
      '480,000 subpackets',
      () => openpgp(Buffer.concat([whole, packet(14, maker.body), ...Array(16).fill(binding(maker, 30_000))])),
    ],
  ]
  test.each(slow)('%s', async (_title, read) => {
    const { stall } = await longestStall(() =>
      read().catch((error: unknown) => expect(error).toMatchObject(unreadable)),
    )

    expect(stall).toBeLessThan(2000) // the worst of them takes a tenth of a second on an idle machine
  })
})

/** A signature that binds a subkey, with so many subpackets which it does not cover. */
function binding(maker: OpenpgpMaker, subpackets: number): Buffer {
  const loose = Buffer.alloc(2 * subpackets, Buffer.of(1, 101))
  return packet(2, maker.signature(0x18, [maker.signed, maker.prefixed(maker.body)], { loose }))
}

test('A key that is checked with slow arithmetic leaves the process to others between two signatures', async () => {
  const maker = new OpenpgpMaker(slowRsa())
  const signature = maker.certification({ numbers: openpgpNumber(oddNumber(2047)) })
  const key = Buffer.concat([packet(6, maker.body), packet(13, maker.userId), ...Array(60).fill(signature)])
  const { turns } = await longestStall(async () => {
    await expect(openpgp(key)).rejects.toThrow('no user id that it has signed itself')
  })

  expect(turns).toBeGreaterThan(60)
})

/** RSA with the largest numbers there may be: no signature verifies, but each must be computed with. */
function slowRsa(): Buffer {
  return Buffer.concat([Buffer.of(4, 0x60, 0, 0, 0, 1), openpgpNumber(oddNumber(2048)), openpgpNumber(oddNumber(8))])
}

describe('An SSH key', () => {
  const { x = '' } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
  const blob = Buffer.concat([sshString('ssh-ed25519'), sshString(Buffer.from(x, 'base64url'))])
  const line = `ssh-ed25519 ${blob.toString('base64')} `
  const rsaLine = (bytes: number) => {
    const fields = [sshString('ssh-rsa'), sshInteger(Buffer.of(1, 0, 1)), sshInteger(oddNumber(bytes))]
    return `ssh-rsa ${Buffer.concat(fields).toString('base64')}\n`
  }
  const usual = Buffer.of(1, 0, 1)

  test('may have 64 KiB', async () => {
    const key = `${line}${'a comment '.repeat(10_000)}`.slice(0, 65_535)

    expect(await ssh(`${key}\n`)).toBe(`${key.trimEnd()}\n`)
  })

  test('of RSA may have 16,384 bits', async () => {
    const longest = rsaLine(2048)

    expect(await ssh(longest)).toBe(longest)
    expect(await ssh(rsaPublic(2048, usual))).toMatch(/^ssh-rsa /)
  })

  test.each([
    ['more than 64 KiB in a line', `${line}${'é'.repeat(40_000)}`, 'at most 64 KiB'],
    ['more than 64 KiB in PEM', pem('PRIVATE KEY', randomBytes(50_000)), 'at most 64 KiB'],
    ['more than 16,384 bits in a line', rsaLine(2049), 'damaged or not of the type'],
    ['more than 16,384 bits in PEM', rsaPublic(2049, usual), 'more than 16,384 bits'],
    ['a large exponent', rsaPublic(2048, oddNumber(9)), 'an RSA exponent 64'],
    ['a NUL character', `${line}a\0b\n`, 'it is neither text nor a binary OpenPGP key'],
  ])('with %s is refused', async (_what, key, reason) => {
    const reading = ssh(key)
    await expect(reading).rejects.toMatchObject(unreadable)
    await expect(reading).rejects.toThrow(reason)
  })
})

test.each([
  ['in binary', Buffer.alloc(1_048_577, 0x99)],
  ['in UTF-16', Buffer.alloc(1_048_578, Buffer.from('\uFEFFa', 'utf16le'))],
  ['in UTF-8', Buffer.alloc(1_048_577, 'a')],
  ['in a string', 'a'.repeat(1_048_577)],
])('A key of more than 1 MiB %s is refused before it is read', async (_form, key) => {
  await expect(openpgp(key)).rejects.toThrow('it is larger than 1 MiB')
})

describe('An OpenPGP key', () => {
  const maker = new OpenpgpMaker()
  const whole = maker.key()
  const many = (count: number, piece: Buffer) => Buffer.concat([whole, ...Array<Buffer>(count).fill(piece)])
  const other = maker.certification({ issuer: randomBytes(20) })
  const bound = packet(2, maker.signature(0x18, [maker.signed, maker.prefixed(maker.body)]))

  test('with 5,000 signatures by other keys, half a megabyte, is served with all of them', async () => {
    const key = many(5000, other)

    expect(key.length).toBeGreaterThan(500_000)
    expect(packetsIn(await openpgp(key))).toBe(5003)
  })

  // GnuPG writes trust packets into its backups. Only a key whose packets are all public keeps those signatures.
  test('with a trust packet is served without signatures by other keys', async () => {
    const trust = packet(12, Buffer.of(0))

    expect(packetsIn(await openpgp(Buffer.concat([whole, other])))).toBe(4)
    expect(packetsIn(await openpgp(Buffer.concat([whole, other, trust])))).toBe(3)
  })

  test('with 500 subkeys and signatures by itself is served with all of them', async () => {
    const key = many(500, Buffer.concat([packet(14, maker.body), bound]))

    expect(packetsIn(await openpgp(key))).toBe(1003)
  })

  const rsa = (...bits: readonly number[]) =>
    packet(
      6,
      Buffer.concat([Buffer.of(4, 0x60, 0, 0, 0, 1), ...bits.map((each) => openpgpNumber(oddNumber(each / 8)))]),
    )

  test.each<[reason: string, key: Buffer]>([
    ['more than 16,384 packets', many(16_382, packet(13, Buffer.of()))],
    ['more than 1,000 user ids and subkeys', many(999, packet(14, maker.body))],
    ['more than 1,000 signatures by itself', many(1000, maker.certification())],
    ['more than 16,384 bits', rsa(16_392, 24)],
    ['an RSA exponent 64', rsa(2048, 72)],
  ])('with %s is refused', async (reason, key) => {
    const reading = openpgp(key)
    await expect(reading).rejects.toMatchObject(unreadable)
    await expect(reading).rejects.toThrow(reason)
  })
})
