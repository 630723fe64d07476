import { enums, readKey, armor as writeArmor } from 'openpgp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeKey, generateKey, openpgpKey } from '../../src/signing-keys/signing-keys.ts'
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
  const home = new GpgHome()
  afterAll(() => home.close())

  test.each([
    ['ed25519', 'secret words'],
    ['rsa2048', ''],
    ['nistp256', ''],
    ['nistp384', ''],
    ['nistp521', ''],
    ['dsa2048', ''],
  ])(
    'on %s with the passphrase "%s" are served as the public half, packet by packet, and described as gpg does',
    async (algorithm, passphrase) => {
      const email = `${algorithm}@example.com`
      const unlock = ['--passphrase', passphrase]
      const primary = home.generate(email, algorithm, passphrase)
      home.run([...unlock, '--quick-add-key', primary, 'cv25519', 'encr', 'never'])
      home.run([...unlock, '--quick-add-key', primary, `${algorithm}/sign`, 'sign', 'never'])
      const expected = await packetsOf(Uint8Array.from(home.run(['--export', email])))

      for (const what of ['--export', '--export-secret-keys', '--export-secret-subkeys']) {
        const armored = await served(`Our key:\n\n${home.run([...unlock, '--armor', what, email])}\nThat was it.\n`)

        expect(await packetsOf(armored)).toEqual(expected)
        expect(await served(home.run([...unlock, what, email]))).toBe(armored)
        expect(importedFingerprints(armored)).toEqual(home.fingerprints(email))
      }
      expect(await describeKey(openpgpKey(home.run(['--export', email])))).toEqual(home.described(email))
    },
  )

  test.each(['brainpoolP256r1', 'secp256k1'])(
    'on %s are refused if they are secret, with the way out, and the public half is served',
    async (algorithm) => {
      const primary = home.generate(`${algorithm}@example.com`, algorithm)

      await expect(served(home.run(['--export-secret-keys', primary]))).rejects.toThrow('give its public half')
      expect(importedFingerprints(await served(home.run(['--export', primary])))).toEqual([primary])
    },
  )

  test('with signatures by others have them only if they are public, and revocations always', async () => {
    const tags = async (key: Uint8Array) =>
      (await packetsOf(await served(key))).map((packet) => packet.split(' ')[0]).join(' ')
    const primary = home.generate('signed@example.com', 'ed25519')
    home.run(['--passphrase', '', '--quick-add-uid', primary, 'Old Name <old@example.com>'])
    home.generate('friend@example.com', 'rsa2048')
    home.run(['--passphrase', '', '--yes', '--local-user', 'friend@example.com', '--quick-sign-key', primary])

    expect(await tags(home.run(['--export', primary]))).toBe('6 13 2 2 13 2 2')
    expect(await tags(home.run(['--export-secret-keys', primary]))).toBe('6 13 2 13 2')

    home.run(['--passphrase', '', '--quick-revoke-uid', primary, 'Old Name <old@example.com>'])
    const secret = home.run(['--export-secret-keys', primary])
    expect((await tags(secret)).split(' ').sort().join(' ')).toBe('13 13 2 2 2 6') // gpg puts either of them first
    expect(importedFingerprints(await served(secret))).toEqual([primary])
  })

  test('expire when the primary key does, or its newest subkey that signs, whichever is earlier', async () => {
    const fingerprint = home.generate('expiring@example.com', 'ed25519')
    home.run(['--passphrase', '', '--quick-set-expire', fingerprint, '2y'])
    const primary = (await describeKey(openpgpKey(home.run(['--export', fingerprint])))).expires
    home.run(['--passphrase', '', '--quick-add-key', fingerprint, 'ed25519', 'sign', '1y'])
    const subkey = (await describeKey(openpgpKey(home.run(['--export-secret-keys', fingerprint])))).expires

    expect(primary).toEqual(home.described(fingerprint).expires)
    expect((subkey?.getTime() ?? 0) - Date.now()).toBeLessThan(366 * 86_400_000)
  })

  test('are taken by gpg if they were generated, and sign', async () => {
    const { privateKey, publicKey } = await generateKey({ format: 'openpgp', name: 'Forge', email: 'made@example.com' })
    home.run(['--import'], privateKey)
    const signature = home.run(['--local-user', 'made@example.com', '--armor', '--sign'], 'a commit')

    expect(importedFingerprints(publicKey)).toEqual(home.fingerprints('made@example.com'))
    expect(home.run(['--verify'], signature)).toBeDefined()
  })
})

describe('an OpenPGP key', () => {
  let pair: { readonly privateKey: string; readonly publicKey: string }
  let other: typeof pair
  beforeAll(async () => {
    pair = await generateKey({ format: 'openpgp', name: 'Forge Signer', email: 'forge@example.com' })
    other = await generateKey({ format: 'openpgp', name: 'Forge Signer', email: 'forge@example.com' })
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
    const [one, two] = await Promise.all([pair, other].map(async (each) => bytesOf(each.privateKey)))
    const length = 2 + (one?.[1] ?? 0)
    const mixed = Buffer.concat([one?.subarray(0, length) ?? Buffer.of(), two?.subarray(length) ?? Buffer.of()])

    await expect(served(mixed)).rejects.toThrow('no user id of the OpenPGP key can be verified')
  })

  const utf16 = (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le')
  const allowed: readonly (readonly [string, (one: typeof pair) => string | Uint8Array | Promise<Uint8Array>])[] = [
    ['its private half', ({ privateKey }) => privateKey],
    ['its private half under a public label', ({ privateKey }) => privateKey.replaceAll('PRIVATE', 'PUBLIC')],
    ['its public half under a private label', ({ publicKey }) => publicKey.replaceAll('PUBLIC', 'PRIVATE')],
    ['an armor with a header', ({ publicKey }) => publicKey.replace('\n\n', '\nComment: of the forge\n\n')],
    ['CRLF line ends', ({ publicKey }) => publicKey.replace(/\r?\n/g, '\r\n')],
    ['a byte order mark', ({ publicKey }) => `\uFEFF${publicKey}`],
    ['UTF-8 bytes with a byte order mark', ({ publicKey }) => Buffer.from(`\uFEFF${publicKey}`)],
    ['UTF-16 little endian', ({ publicKey }) => utf16(publicKey)],
    ['UTF-16 big endian', ({ publicKey }) => utf16(publicKey).swap16()],
    ['binary', ({ publicKey }) => bytesOf(publicKey)],
    ['a text without a newline at the end', ({ publicKey }) => publicKey.trimEnd()],
    ['prose around it', ({ publicKey }) => `Dear operator,\n${publicKey}\nyours`],
  ]
  test.each(allowed)('is the same text from %s', async (_title, change) => {
    expect(await served(await change(pair))).toBe(pair.publicKey.replaceAll('\r', ''))
  })

  const broken: typeof allowed = [
    ['no bytes', () => new Uint8Array()],
    ['an SSH key', () => 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIH84JamSHTWjXqKzGZ8lq5y0mY7Q4o2M8cVn6b1xQy6m'],
    ['an armor without its last line', ({ publicKey }) => publicKey.trim().split('\n').slice(0, -1).join('\n')],
    ['an armor with a line missing', ({ publicKey }) => publicKey.split('\n').toSpliced(3, 1).join('\n')],
    ['a public key and a private key', ({ privateKey, publicKey }) => publicKey + privateKey],
    ['the same public key twice', ({ publicKey }) => publicKey + publicKey],
    ['a public key and an SSH key', ({ publicKey }) => `${publicKey}ssh-ed25519 AAAA`],
    [
      'two binary keys',
      async ({ publicKey }) => Buffer.concat([await bytesOf(publicKey), await bytesOf(other.publicKey)]),
    ],
    ['half a binary key', async ({ publicKey }) => (await bytesOf(publicKey)).subarray(0, 100)],
    ['a key packet alone', async ({ publicKey }) => (await bytesOf(publicKey)).subarray(0, 53)],
    ['a length beyond the end', () => Uint8Array.of(0xc6, 0xff, 0xff, 0xff, 0xff, 0xff, 4)],
  ]
  test.each(broken)('cannot be read from %s', async (_title, make) => {
    await expect(served(await make(pair))).rejects.toMatchObject(unreadable)
  })

  test('keeps the bytes that it was given, and refuses what is neither text nor bytes at once', async () => {
    const bytes = await bytesOf(pair.publicKey)
    const source = openpgpKey(bytes)
    bytes.fill(0)

    expect((await source.publicKey()).text).toBe(await served(pair.publicKey))
    // @ts-expect-error an argument of a wrong type
    expect(() => openpgpKey(42)).toThrow(TypeError)
  })

  test('is parsed once for all who ask at the same time, and has a strong entity tag that follows its text', async () => {
    const source = openpgpKey(pair.privateKey)
    const answers = await Promise.all([source.publicKey(), source.publicKey()])

    expect(new Set([...answers, source.publicKey()]).size).toBe(1)
    expect(answers[0].etag).toMatch(/^"[\w-]{43}"$/)
    expect((await openpgpKey(other.publicKey).publicKey()).etag).not.toBe(answers[0].etag)
  })
})
