import { enums, readKey, armor as writeArmor } from 'openpgp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateKey, openpgpKey } from '../../src/signing-keys/signing-keys.ts'
import { describeWith } from '../programs.ts'
import { GpgHome, importedFingerprints } from './gpg-home.ts'

const unreadable = { code: 'SIGNING_KEY_UNREADABLE' }

async function served(key: string | Uint8Array): Promise<string> {
  return (await openpgpKey(key).publicKey()).text
}

/** Each packet of a key, as its tag and its content. */
async function packetsOf(key: string | Uint8Array): Promise<readonly string[]> {
  const whole = await (typeof key === 'string' ? readKey({ armoredKey: key }) : readKey({ binaryKey: key }))
  return whole.toPacketList().map((packet) => {
    const { tag = 0 } = packet.constructor as { tag?: number }
    return `${tag} ${Buffer.from(packet.write() as Uint8Array).toString('hex')}`
  })
}

async function bytesOf(armored: string): Promise<Uint8Array> {
  return Uint8Array.from((await readKey({ armoredKey: armored })).write())
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
      home.run(['--passphrase', passphrase, '--quick-add-key', primary, `${algorithm}/sign`, 'sign', 'never'])
      fingerprints = home.fingerprints(email)
    })

    const exports = [
      ['--export', '--armor'],
      ['--export', '--no-armor'],
      ['--export-secret-keys', '--armor'],
      ['--export-secret-keys', '--no-armor'],
      ['--export-secret-subkeys', '--armor'],
    ] as const
    test.each(exports)('gpg takes what is served of %s %s: the public half, packet by packet', async (what, form) => {
      const exported = home.run(['--passphrase', passphrase, form, what, email])
      const text = await served(form === '--armor' ? `Our key:\n\n${exported}\nThat was it.\n` : exported)

      expect(importedFingerprints(text)).toEqual(fingerprints)
      expect(await packetsOf(text)).toEqual(await packetsOf(Uint8Array.from(home.run(['--export', email]))))
    })
  })

  test.each(['dsa2048', 'nistp384', 'nistp521'])(
    'a secret key on %s is served as the public half, packet by packet',
    async (algorithm) => {
      const primary = home.generate(`${algorithm}@example.com`, algorithm)
      const text = await served(home.run(['--export-secret-keys', primary]))

      expect(await packetsOf(text)).toEqual(await packetsOf(Uint8Array.from(home.run(['--export', primary]))))
    },
  )

  test.each(['brainpoolP256r1', 'secp256k1'])(
    'on %s, a secret key is refused with the way out, and the public half is served',
    async (algorithm) => {
      const primary = home.generate(`${algorithm}@example.com`, algorithm)

      await expect(served(home.run(['--export-secret-keys', primary]))).rejects.toThrow('give its public half')
      expect(importedFingerprints(await served(home.run(['--export', primary])))).toEqual([primary])
    },
  )

  describe('with a second user id and a signature by another key', () => {
    let primary: string
    const tags = async (key: string | Uint8Array) =>
      (await packetsOf(key)).map((packet) => packet.split(' ')[0]).join(' ')
    beforeAll(() => {
      primary = home.generate('signed@example.com', 'ed25519')
      home.run(['--passphrase', '', '--quick-add-uid', primary, 'Old Name <old@example.com>'])
      home.generate('friend@example.com', 'rsa2048')
      home.run(['--passphrase', '', '--yes', '--local-user', 'friend@example.com', '--quick-sign-key', primary])
    })

    test('a public key is served with all of it', async () => {
      expect(await tags(await served(home.run(['--export', primary])))).toBe('6 13 2 2 13 2 2')
    })

    test('of a secret key only what the key itself has signed is served', async () => {
      expect(await tags(await served(home.run(['--export-secret-keys', primary])))).toBe('6 13 2 13 2')
    })

    test('a revoked user id is served with its revocation', async () => {
      home.run(['--passphrase', '', '--quick-revoke-uid', primary, 'Old Name <old@example.com>'])
      const text = await served(home.run(['--export-secret-keys', primary]))

      expect((await tags(text)).split(' ').sort().join(' ')).toBe('13 13 2 2 2 6') // gpg puts either of them first
      expect(importedFingerprints(text)).toEqual([primary])
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

    await expect(served(both)).rejects.toThrow('more than one OpenPGP key')
  })
})

describe('an OpenPGP key', () => {
  let pair: { readonly privateKey: string; readonly publicKey: string }
  beforeAll(async () => {
    pair = await generateKey({ format: 'openpgp', name: 'Forge Signer', email: 'forge@example.com' })
  })

  test('is the same text from its private and its public half, without an armor header', async () => {
    const noted = pair.publicKey.replace('\n\n', '\nComment: of the forge\n\n')

    expect(await served(pair.privateKey)).toBe(pair.publicKey.replaceAll('\r', ''))
    expect(await served(pair.publicKey)).toBe(await served(pair.privateKey))
    expect(await served(noted)).toBe(await served(pair.publicKey))
  })

  test('labelled public while it is private is served as its public half, and the other way round', async () => {
    expect(await served(pair.privateKey.replaceAll('PRIVATE', 'PUBLIC'))).toBe(await served(pair.publicKey))
    expect(await served(pair.publicKey.replaceAll('PUBLIC', 'PRIVATE'))).toBe(await served(pair.publicKey))
  })

  test('with private key packets under public tags is served without the private fields', async () => {
    const bytes = await bytesOf(pair.privateKey)
    for (let at = 0; at < bytes.length; ) {
      const tag = (bytes[at] ?? 0) & 0x3f
      if (tag === enums.packet.secretKey) bytes[at] = 0xc0 + enums.packet.publicKey
      if (tag === enums.packet.secretSubkey) bytes[at] = 0xc0 + enums.packet.publicSubkey
      const [first = 0, second = 0] = bytes.subarray(at + 1)
      at += first < 192 ? first + 2 : (first - 192) * 256 + second + 192 + 3
    }
    const text = await served(writeArmor(enums.armor.publicKey, bytes))

    expect(await packetsOf(text)).toEqual(await packetsOf(pair.publicKey))
  })

  test('whose user id is signed by another key alone is refused', async () => {
    const other = await generateKey({ format: 'openpgp', name: 'Forge Signer', email: 'forge@example.com' })
    const [one, two] = await Promise.all([pair, other].map(async (each) => bytesOf(each.privateKey)))
    const length = 2 + (one?.[1] ?? 0)
    const mixed = Buffer.concat([one?.subarray(0, length) ?? Buffer.of(), two?.subarray(length) ?? Buffer.of()])

    await expect(served(mixed)).rejects.toThrow('no user id of the OpenPGP key can be verified')
  })

  const allowed: readonly (readonly [string, (armored: string) => string | Uint8Array | Promise<Uint8Array>])[] = [
    ['with CRLF line ends', (armored) => armored.replace(/\r?\n/g, '\r\n')],
    ['with a byte order mark', (armored) => `\uFEFF${armored}`],
    ['in UTF-8 bytes with a byte order mark', (armored) => Buffer.from(`\uFEFF${armored}`)],
    ['in UTF-16 little endian', (armored) => Buffer.from(`\uFEFF${armored}`, 'utf16le')],
    ['in UTF-16 big endian', (armored) => Buffer.from(`\uFEFF${armored}`, 'utf16le').swap16()],
    ['in binary form', bytesOf],
    ['without a newline at the end', (armored) => armored.trimEnd()],
    ['with prose around it', (armored) => `Dear operator,\n${armored}\nyours`],
  ]
  test.each(allowed)('%s is served like any other', async (_title, change) => {
    expect(await served(await change(pair.publicKey))).toBe(await served(pair.publicKey))
  })

  const broken: readonly (readonly [
    string,
    (pair: { privateKey: string; publicKey: string }) => string | Uint8Array | Promise<Uint8Array>,
  ])[] = [
    ['an empty text', () => ''],
    ['no bytes', () => new Uint8Array()],
    ['garbage', () => 'garbage'],
    ['an SSH key', () => 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIH84JamSHTWjXqKzGZ8lq5y0mY7Q4o2M8cVn6b1xQy6m'],
    ['an armor without its last line', ({ publicKey }) => publicKey.trim().split('\n').slice(0, -1).join('\n')],
    ['an armor with a line missing', ({ publicKey }) => publicKey.split('\n').toSpliced(3, 1).join('\n')],
    [
      'an armor with a letter changed',
      ({ publicKey }) => publicKey.replace(/\n\n.{20}/, (head) => `${head.slice(0, -1)}~`),
    ],
    ['a public key and a private key', ({ privateKey, publicKey }) => publicKey + privateKey],
    ['the same public key twice', ({ publicKey }) => publicKey + publicKey],
    ['a public key and an SSH key', ({ publicKey }) => `${publicKey}ssh-ed25519 AAAA`],
    ['half a binary key', async ({ publicKey }) => (await bytesOf(publicKey)).subarray(0, 100)],
    ['a key packet alone', async ({ publicKey }) => (await bytesOf(publicKey)).subarray(0, 53)],
    ['a length beyond the end', () => Uint8Array.of(0xc6, 0xff, 0xff, 0xff, 0xff, 0xff, 4)],
    ['a header cut off', () => Uint8Array.of(0xc6)],
    ['broken UTF-8', () => Uint8Array.of(0x2d, 0xff, 0xff)],
    ['text with NUL', () => 'a\0b'],
  ]
  test.each(broken)('cannot be read from %s', async (_title, make) => {
    await expect(served(await make(pair))).rejects.toMatchObject(unreadable)
  })

  test('is a TypeError at once when it is neither text nor bytes', () => {
    // @ts-expect-error an argument of a wrong type
    expect(() => openpgpKey(42)).toThrow(TypeError)
  })

  test('keeps what it was given, whatever becomes of the bytes', async () => {
    const bytes = await bytesOf(pair.publicKey)
    const source = openpgpKey(bytes)
    bytes.fill(0)

    expect((await source.publicKey()).text).toBe(await served(pair.publicKey))
  })

  test('is parsed once for all who ask at the same time, and has a strong entity tag that follows its text', async () => {
    const source = openpgpKey(pair.privateKey)
    const answers = await Promise.all([source.publicKey(), source.publicKey()])
    const other = await generateKey({ format: 'openpgp', name: 'Other', email: 'other@example.com' })

    expect(new Set([...answers, source.publicKey()]).size).toBe(1)
    expect(answers[0].etag).toMatch(/^"[\w-]{43}"$/)
    expect((await openpgpKey(other.publicKey).publicKey()).etag).not.toBe(answers[0].etag)
  })
})
