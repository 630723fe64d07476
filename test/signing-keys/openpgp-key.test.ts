import { enums, armor as writeArmor } from 'openpgp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateKey } from '../../src/signing-keys/generate-key.ts'
import { splitKeyText } from '../../src/signing-keys/key-blocks.ts'
import { readArmor } from '../../src/signing-keys/openpgp-armor.ts'
import { openpgpKey } from '../../src/signing-keys/openpgp-key.ts'
import { isPublicPacket, PACKET, splitPackets } from '../../src/signing-keys/openpgp-packets.ts'
import { describeWith } from '../programs.ts'
import { GpgHome, importedFingerprints } from './gpg-home.ts'

const unreadable = { code: 'SIGNING_KEY_UNREADABLE' }

function bytesOf(armored: string): Uint8Array {
  const [block] = splitKeyText(armored).blocks
  return block ? readArmor(block).bytes : new Uint8Array()
}

function packetsOf(bytes: Uint8Array): readonly string[] {
  return splitPackets(bytes).map(({ tag, body }) => `${tag} ${Buffer.from(body).toString('hex')}`)
}

async function served(key: string | Uint8Array): Promise<string> {
  return (await openpgpKey(key).publicKey()).text
}

describeWith(['gpg', 'gpgconf'], 'OpenPGP keys that gpg made', () => {
  let home: GpgHome
  beforeAll(() => {
    home = new GpgHome()
  })
  afterAll(() => home.close())

  const kinds = [
    ['ed25519', ''],
    ['rsa2048', 'secret words'],
    ['nistp256', ''],
  ] as const

  describe.each(kinds)('%s with the passphrase "%s"', (algorithm, passphrase) => {
    const email = `${algorithm}-${passphrase.length}@example.com`
    let fingerprints: readonly string[] = []
    beforeAll(() => {
      const primary = home.generate(email, algorithm, passphrase)
      home.run(['--passphrase', passphrase, '--quick-add-key', primary, 'cv25519', 'encr', 'never'])
      fingerprints = home.fingerprints(email)
    })

    const exports = [
      ['--export', '--armor'],
      ['--export', '--no-armor'],
      ['--export-secret-keys', '--armor'],
      ['--export-secret-keys', '--no-armor'],
      ['--export-secret-subkeys', '--armor'],
    ] as const
    test.each(exports)(
      'gpg takes what is served of %s %s, and it is the public half packet by packet',
      async (what, form) => {
        const exported = home.run(['--passphrase', passphrase, form, what, email])
        const text = await served(form === '--armor' ? exported.toString() : exported)

        expect(importedFingerprints(text)).toEqual(fingerprints)
        expect(packetsOf(bytesOf(text))).toEqual(packetsOf(home.run(['--export', email])))
      },
    )

    test('a public armor is served as it is', async () => {
      const exported = home.run(['--armor', '--comment', 'the forge signs with this', '--export', email]).toString()

      expect(await served(`Our key:\n\n${exported}\nThat was it.\n`)).toBe(exported)
    })
  })

  test('a made key is taken by gpg, which signs with it', async () => {
    const { privateKey, publicKey } = await generateKey({ format: 'openpgp', name: 'Forge', email: 'made@example.com' })
    home.run(['--import'], privateKey)
    const signature = home.run(['--local-user', 'made@example.com', '--armor', '--sign'], 'a commit')

    expect(importedFingerprints(publicKey)).toEqual(home.fingerprints('made@example.com'))
    expect(home.run(['--verify'], signature)).toBeDefined()
  })

  test('a file with two primary keys is refused', async () => {
    home.generate('one@example.com', 'ed25519')
    home.generate('two@example.com', 'ed25519')
    const both = home.run(['--armor', '--export', 'one@example.com', 'two@example.com']).toString()

    await expect(served(both)).rejects.toMatchObject(unreadable)
  })
})

describe('an OpenPGP key', () => {
  let pair: { readonly privateKey: string; readonly publicKey: string }
  beforeAll(async () => {
    pair = await generateKey({ format: 'openpgp', name: 'Forge Signer', email: 'forge@example.com' })
  })

  test('is public material only, when it was private', async () => {
    const text = await served(pair.privateKey)

    expect(splitPackets(bytesOf(text)).every(isPublicPacket)).toBe(true)
    expect(text).not.toContain('PRIVATE')
  })

  test('is the same text from its private and its public half', async () => {
    expect(await served(pair.privateKey)).toBe(pair.publicKey)
  })

  test('labelled public while it is private is served as its public half', async () => {
    expect(await served(pair.privateKey.replaceAll('PRIVATE', 'PUBLIC'))).toBe(pair.publicKey)
  })

  test('labelled private while it is public is served under the right label', async () => {
    expect(await served(pair.publicKey.replaceAll('PUBLIC', 'PRIVATE'))).toBe(pair.publicKey)
  })

  test('with private key packets under public tags is served without the private fields', async () => {
    const bytes = Uint8Array.from(bytesOf(pair.privateKey))
    for (const { tag, body } of splitPackets(bytes)) {
      if (tag === PACKET.secretKey) bytes[body.byteOffset - 2] = 0xc0 + PACKET.publicKey
      if (tag === PACKET.secretSubkey) bytes[body.byteOffset - 2] = 0xc0 + PACKET.publicSubkey
    }

    expect(await served(writeArmor(enums.armor.publicKey, bytes))).toBe(pair.publicKey)
  })

  const harmless: readonly (readonly [string, (armored: string) => string | Uint8Array])[] = [
    ['with CRLF line ends', (armored) => armored.replaceAll('\n', '\r\n')],
    ['with a byte order mark', (armored) => `\uFEFF${armored}`],
    ['in UTF-8 bytes with a byte order mark', (armored) => Buffer.from(`\uFEFF${armored}`)],
    ['in UTF-16 little endian', (armored) => Buffer.from(`\uFEFF${armored}`, 'utf16le')],
    ['in UTF-16 big endian', (armored) => Buffer.from(`\uFEFF${armored}`, 'utf16le').swap16()],
    ['in binary form', (armored) => bytesOf(armored)],
    ['without a newline at the end', (armored) => armored.trimEnd()],
    ['with prose around it', (armored) => `Dear operator,\n${armored}\nyours`],
  ]
  test.each(harmless)('%s is served like any other', async (_title, change) => {
    expect(await served(change(pair.publicKey))).toBe(pair.publicKey)
  })

  test('with an unusual armor header is armored anew without it', async () => {
    const odd = pair.publicKey.replace('\n\n', '\nNote: -----BEGIN PGP PRIVATE KEY BLOCK-----\n\n')

    expect(await served(odd)).toBe(pair.publicKey)
  })

  const broken: readonly (readonly [
    string,
    (pair: { privateKey: string; publicKey: string }) => string | Uint8Array,
  ])[] = [
    ['an empty text', () => ''],
    ['no bytes', () => new Uint8Array()],
    ['garbage', () => 'garbage'],
    ['an SSH key', () => 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIH84JamSHTWjXqKzGZ8lq5y0mY7Q4o2M8cVn6b1xQy6m'],
    ['an armor without its last line', ({ publicKey }) => publicKey.split('\n').slice(0, -2).join('\n')],
    ['an armor with a line missing', ({ publicKey }) => publicKey.split('\n').toSpliced(3, 1).join('\n')],
    [
      'an armor with a letter changed',
      ({ publicKey }) => publicKey.replace(/\n\n.{20}/, (head) => `${head.slice(0, -1)}~`),
    ],
    ['an armor with a wrong checksum', ({ publicKey }) => publicKey.replace(/\n=.{4}\n/, '\n=AAAA\n')],
    ['a public key and a private key', ({ privateKey, publicKey }) => publicKey + privateKey],
    ['the same public key twice', ({ publicKey }) => publicKey + publicKey],
    ['half a binary key', ({ publicKey }) => bytesOf(publicKey).subarray(0, 100)],
    ['a key packet alone', ({ publicKey }) => bytesOf(publicKey).subarray(0, 53)],
    ['a length beyond the end', () => Uint8Array.of(0xc6, 0xff, 0xff, 0xff, 0xff, 0xff, 4)],
    ['a packet of open length', () => Uint8Array.of(0x9b, 4, 0, 0, 0, 0)],
    ['a partial length', () => Uint8Array.of(0xc6, 0xe1, 4, 0, 0, 0)],
    ['a header cut off', () => Uint8Array.of(0xc6)],
    ['more than 1 MiB', () => new Uint8Array(1_048_577).fill(0xc6)],
    ['broken UTF-8', () => Uint8Array.of(0x2d, 0xff, 0xff)],
    ['text with NUL', () => 'a\0b'],
  ]
  test.each(broken)('cannot be read from %s', async (_title, make) => {
    await expect(served(make(pair))).rejects.toMatchObject(unreadable)
  })

  test('is a TypeError at once when it is neither text nor bytes', () => {
    // @ts-expect-error an argument of a wrong type
    expect(() => openpgpKey(42)).toThrow(TypeError)
  })

  test('keeps what it was given, whatever becomes of the bytes', async () => {
    const bytes = Uint8Array.from(bytesOf(pair.publicKey))
    const source = openpgpKey(bytes)
    bytes.fill(0)

    expect((await source.publicKey()).text).toBe(pair.publicKey)
  })
})
