import { enums, armor as writeArmor } from 'openpgp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateKey } from '../../src/signing-keys/generate-key.ts'
import { splitKeyText } from '../../src/signing-keys/key-text.ts'
import { openpgpKey, readArmor } from '../../src/signing-keys/openpgp.ts'
import { isPublicPacket, PACKET, splitPackets } from '../../src/signing-keys/openpgp-packets.ts'
import { describeWith } from '../programs.ts'
import { GpgHome, importedFingerprints } from './gpg-home.ts'
import { OpenpgpMaker, packet } from './openpgp-maker.ts'

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

  const others = [
    'dsa2048',
    'nistp384',
    'nistp521',
    'brainpoolP256r1',
    'brainpoolP384r1',
    'brainpoolP512r1',
    'secp256k1',
  ]
  test.each(others)('a secret key on %s is served as the public half, packet by packet', async (algorithm) => {
    const email = `${algorithm}@example.com`
    const primary = home.generate(email, algorithm)
    const encryption = algorithm === 'dsa2048' ? 'elg1024' : algorithm
    home.run(['--passphrase', '', '--quick-add-key', primary, encryption, 'encr', 'never'])
    home.run(['--passphrase', '', '--quick-add-key', primary, `${algorithm}/sign`, 'sign', 'never'])
    const text = await served(home.run(['--export-secret-keys', primary]))

    expect(packetsOf(bytesOf(text))).toEqual(packetsOf(home.run(['--export', primary])))
  })

  describe('with a second user id and a signature by another key', () => {
    let primary: string
    const named = (text: string) => packetsOf(bytesOf(text)).filter((packet) => packet.startsWith(`${PACKET.userId} `))
    const signatures = (text: string) =>
      splitPackets(bytesOf(text)).filter(({ tag }) => tag === PACKET.signature).length
    beforeAll(() => {
      primary = home.generate('signed@example.com', 'ed25519')
      home.run(['--passphrase', '', '--quick-add-uid', primary, 'Old Name <old@example.com>'])
      home.generate('friend@example.com', 'rsa2048')
      home.run(['--passphrase', '', '--yes', '--local-user', 'friend@example.com', '--quick-sign-key', primary])
    })

    test('a public key is served as it is', async () => {
      const exported = home.run(['--armor', '--export', primary]).toString()

      expect(await served(exported)).toBe(exported)
      expect(signatures(exported)).toBe(4)
    })

    test('of a secret key only what the key itself has signed is served', async () => {
      const text = await served(home.run(['--export-secret-keys', primary]))

      expect(named(text)).toHaveLength(2)
      expect(signatures(text)).toBe(2)
    })

    test('a revoked user id is left out, and gpg takes the rest', async () => {
      home.run(['--passphrase', '', '--quick-revoke-uid', primary, 'Old Name <old@example.com>'])
      const fromPublic = await served(home.run(['--armor', '--export', primary]).toString())
      const fromSecret = await served(home.run(['--export-secret-keys', primary]))

      expect([named(fromPublic).length, named(fromSecret).length]).toEqual([1, 1])
      expect(fromPublic).not.toContain('Comment')
      expect(importedFingerprints(fromSecret)).toEqual([primary])
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

  const allowed: readonly (readonly [string, (armored: string) => string | Uint8Array])[] = [
    ['with CRLF line ends', (armored) => armored.replaceAll('\n', '\r\n')],
    ['with a byte order mark', (armored) => `\uFEFF${armored}`],
    ['in UTF-8 bytes with a byte order mark', (armored) => Buffer.from(`\uFEFF${armored}`)],
    ['in UTF-16 little endian', (armored) => Buffer.from(`\uFEFF${armored}`, 'utf16le')],
    ['in UTF-16 big endian', (armored) => Buffer.from(`\uFEFF${armored}`, 'utf16le').swap16()],
    ['in binary form', (armored) => bytesOf(armored)],
    ['without a newline at the end', (armored) => armored.trimEnd()],
    ['with prose around it', (armored) => `Dear operator,\n${armored}\nyours`],
  ]
  test.each(allowed)('%s is served like any other', async (_title, change) => {
    expect(await served(change(pair.publicKey))).toBe(pair.publicKey)
  })

  test('with an unusual armor header is armored again without it', async () => {
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

describe('A public key', () => {
  const maker = new OpenpgpMaker()
  const whole = maker.key()
  const secret = Buffer.concat([Buffer.from('a private key: '), maker.seed, maker.seed])
  const loose = Buffer.concat([Buffer.of(secret.length + 1, 20), secret])
  const certification = maker.certification({ loose })
  const other = maker.certification({ issuer: Buffer.alloc(20, 1), loose })
  const bound = maker.signature(0x18, [maker.signed, maker.prefixed(maker.body)])

  const carriers: readonly (readonly [string, Uint8Array])[] = [
    ['a user id that it has not signed', packet(13, secret)],
    ['a user attribute that it has not signed', packet(17, secret)],
    ['a user id under the signature of another', Buffer.concat([packet(13, secret), maker.certification()])],
    [
      'a user id that another key has signed',
      Buffer.concat([packet(13, secret), maker.certification({ userId: secret, issuer: Buffer.alloc(20, 1) })]),
    ],
    [
      'a user id under a signature with another number',
      Buffer.concat([packet(13, secret), maker.certification({ userId: secret, numbers: Buffer.alloc(64, 1) })]),
    ],
    ['a subkey that it has not signed', packet(14, Buffer.concat([maker.body.subarray(0, 6), maker.seed]))],
    [
      'a subkey with more than its public fields',
      Buffer.concat([packet(14, Buffer.concat([maker.body, secret])), packet(2, bound)]),
    ],
    ['a signature with bytes behind it', packet(2, Buffer.concat([certification.subarray(6), secret]))],
    ['a signature with a note that it does not cover', certification],
    ['a signature by another key with a note that it does not cover', other],
    ['a signature of an unknown version', packet(2, Buffer.concat([Buffer.of(5), secret]))],
    ['a trust packet', packet(12, secret)],
    ['a marker', packet(10, secret)],
    ['padding', packet(21, secret)],
    ['an unknown packet', packet(60, secret)],
    ['a compressed packet', packet(8, secret)],
  ]
  test.each(carriers)('with private bytes in %s is served without them', async (_title, carrier) => {
    const text = await served(Buffer.concat([whole, carrier]))

    expect(bytesOf(text).length).toBeGreaterThanOrEqual(100)
    expect(Buffer.from(bytesOf(text)).includes(maker.seed)).toBe(false)
    expect(Buffer.from(bytesOf(text)).includes('a private key')).toBe(false)
  })

  test('whose user id was signed again after it was revoked is served with it', async () => {
    const revoked = maker.certification({ type: 0x30, createdAt: 0x60000001 })
    const again = maker.certification({ createdAt: 0x60000002 })

    expect(packetsOf(bytesOf(await served(Buffer.concat([whole, revoked, again]))))).toHaveLength(5)
    await expect(served(Buffer.concat([whole, revoked]))).rejects.toThrow('no user id')
    await expect(served(Buffer.concat([whole, again, revoked, revoked]))).resolves.toBeDefined()
  })

  test('from a key ring, with trust packets between its parts, is served without them', async () => {
    const trust = packet(12, Buffer.of(6, 0))
    const parts = [packet(6, maker.body), trust, packet(13, maker.userId), trust, maker.certification(), trust]

    expect(packetsOf(bytesOf(await served(Buffer.concat(parts))))).toEqual(packetsOf(whole))
  })

  test('without a user id that it has signed is refused', async () => {
    const key = Buffer.concat([packet(6, maker.body), packet(13, maker.userId), other])

    await expect(served(key)).rejects.toThrow('no user id that it has signed itself and not revoked')
  })
})
