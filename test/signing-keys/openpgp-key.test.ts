import { readFileSync } from 'node:fs'
import { enums, readKey, unarmor, armor as writeArmor } from 'openpgp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeKey, generateKey, openpgpKey } from '../../src/signing-keys/signing-keys.ts'
import { describeWith } from '../programs.ts'
import { GpgHome, importedFingerprints } from './gpg-home.ts'
import type { KeyPacket } from './key-bytes.ts'
import { packet, packetsOf as splitKey, VERSION_5 } from './key-bytes.ts'

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

  // One of each kind, and of the curves one of NIST and two that openpgp.js computes by itself.
  const algorithms = ['rsa2048', 'dsa2048', 'nistp384', 'brainpoolP512r1', 'secp256k1']
  test.each([['ed25519', 'secret words'], ...algorithms.map((algorithm) => [algorithm, ''])])(
    'on %s with the passphrase "%s" are served as the public half, packet by packet, from every export',
    async (algorithm = '', passphrase = '') => {
      const email = `${algorithm}@example.com`
      const unlock = ['--passphrase', passphrase]
      const primary = home.generate(email, algorithm, passphrase)
      home.run([...unlock, '--quick-add-key', primary, 'cv25519', 'encr', 'never'])
      const signing = algorithm === 'dsa2048' ? 'ed25519' : algorithm // to find the primes of DSA takes seconds
      home.run([...unlock, '--quick-add-key', primary, `${signing}/sign`, 'sign', 'never'])
      const exported = Uint8Array.from(home.run(['--export', email]))
      const armored = await served(exported)

      expect(await packetsOf(armored)).toEqual(await packetsOf(exported))
      expect(importedFingerprints(armored)).toEqual(home.fingerprints(email))
      for (const half of ['--export-secret-keys', '--export-secret-subkeys']) {
        expect(await served(home.run([...unlock, half, email]))).toBe(armored)
      }
      if (algorithm === 'ed25519') {
        const text = home.run([...unlock, '--armor', '--export-secret-keys', email])
        expect(await served(`Our key:\n\n${text}\nThat was it.\n`)).toBe(armored)
      }
      expect(await describeKey(openpgpKey(exported))).toEqual(home.described(email))
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

  test('with a signature that is not for export are served without it', async () => {
    const primary = home.generate('local@example.com', 'ed25519')
    home.run(['--passphrase', '', '--yes', '--local-user', 'friend@example.com', '--quick-lsign-key', primary])
    home.run(['--passphrase', '', '--yes', '--local-user', 'signed@example.com', '--quick-sign-key', primary])
    const local = ['--export-options', 'export-local-sigs', '--export', primary]

    expect(splitKey(home.run(local))).toHaveLength(5)
    expect(await packetsOf(await served(home.run(local)))).toEqual(
      await packetsOf(Uint8Array.from(home.run(['--export', primary]))),
    )
  })

  test('that a designated revoker has revoked are revoked, and refused if they are private', async () => {
    const primary = home.generate('revoked@example.com', 'ed25519')
    home.generate('revoker@example.com', 'ed25519')
    const steps = (...answers: readonly string[]) => `${answers.join('\n')}\n`
    const unlock = ['--passphrase', '', '--command-fd', '0']
    home.run([...unlock, '--edit-key', primary], steps('addrevoker', 'revoker@example.com', 'y', 'y', 'save'))
    const secret = () => home.run(['--export-secret-keys', primary])
    expect(await describeKey(openpgpKey(secret()))).toMatchObject({ isRevoked: false, fingerprint: primary })
    home.run(['--import'], home.run(['--no-batch', ...unlock, '--desig-revoke', primary], steps('y', '0', '', 'y')))
    const whole = home.run(['--export', primary])

    await expect(served(secret())).rejects.toThrow('a revocation, is of a kind that is not supported')
    expect(await packetsOf(await served(whole))).toEqual(await packetsOf(Uint8Array.from(whole)))
    expect(await describeKey(openpgpKey(whole))).toMatchObject({ isRevoked: true })
  })

  test('on curves that openpgp.js cannot verify are described with their expiry and revocation', async () => {
    const primary = home.generate('brainpool@example.com', 'brainpoolP256r1')
    home.run(['--passphrase', '', '--quick-set-expire', primary, '2y'])
    const describe = () => describeKey(openpgpKey(home.run(['--export-secret-keys', primary])))
    expect(await describe()).toMatchObject({ expires: home.described(primary).expires, isRevoked: false })
    const certificate = readFileSync(`${home.path}/openpgp-revocs.d/${primary}.rev`, 'utf8')
    home.run(['--import'], certificate.replace(/^:---/m, '---'))

    expect(await describe()).toMatchObject({ isRevoked: true })
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

  test('are revoked when all that signs is, the primary key or its subkeys', async () => {
    const primary = home.generate('subkeys@example.com', 'ed25519', '', 'cert')
    const unlock = ['--passphrase', '']
    const isRevoked = async () => (await describeKey(openpgpKey(home.run(['--export', primary])))).isRevoked
    const revoke = (subkey: string) =>
      home.run([...unlock, '--command-fd', '0', '--edit-key', primary], `${subkey}\nrevkey\ny\n0\n\ny\nsave\n`)
    home.run([...unlock, '--quick-add-key', primary, 'ed25519', 'sign', 'never'])
    home.run([...unlock, '--quick-add-key', primary, 'cv25519', 'encr', 'never'])
    expect(await isRevoked()).toBe(false)
    revoke('key 1')
    expect(await isRevoked()).toBe(true)
    home.run([...unlock, '--quick-add-key', primary, 'ed25519', 'sign', 'never'])
    expect(await isRevoked()).toBe(false)
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
    const [key, others] = [await bytesOf(pair.privateKey), await bytesOf(other.privateKey)]
    const lengthOfFirst = (packets: Uint8Array): number => 2 + (packets[1] ?? 0)
    const mixed = Buffer.concat([key.subarray(0, lengthOfFirst(key)), others.subarray(lengthOfFirst(others))])

    await expect(served(mixed)).rejects.toThrow('no user id of the OpenPGP key has a valid signature')
  })

  const inserts: readonly (readonly [what: string, tag: number, at: number])[] = [
    ['a user id', 13, 1],
    ['a user id at the end', 13, 5],
    ['an attribute', 17, 3],
    ['a subkey', 14, 3],
    ['a secret subkey', 7, 5],
    ['a signature', 2, 2],
    ...[10, 12, 21, 40, 60, 63].map((tag) => [`a packet ${tag}`, tag, 3] as const),
  ]
  test.each(inserts)('with %s that it has not signed is served without it', async (_what, tag, at) => {
    const packets = splitKey(await bytesOf(pair.publicKey))
    const [, , , foreign] = splitKey(await bytesOf(tag === 7 ? other.privateKey : other.publicKey))
    for (const body of [foreign?.body ?? Buffer.of(), Buffer.from('Eve <eve@example.com>'), Buffer.of()]) {
      const key = Buffer.concat(packets.toSpliced(at, 0, { tag, body }).map((each) => packet(each)))

      expect(await served(key)).toBe(pair.publicKey.replaceAll('\r', ''))
    }
  })

  test('whose user id has a signature about the key alone, or about another, is refused', async () => {
    const [key, user, about, subkey, binding] = splitKey(await bytesOf(pair.publicKey))
    const [, , , , , direct] = splitKey(await bytesOf(pair.publicKey))
    expect(direct).toBeUndefined()
    for (const signature of [binding, splitKey(await bytesOf(other.publicKey))[2]]) {
      const packets = [key, user, signature, subkey, about].filter((each) => each !== undefined)

      await expect(served(Buffer.concat(packets.map((each) => packet(each))))).rejects.toThrow('no user id')
    }
  })

  describe('with a subkey of a kind that is not known', () => {
    const packets = splitKey(VERSION_5)
    const write = (all: readonly KeyPacket[]) => Buffer.concat(all.map((each) => packet(each)))
    /** A primary key whose private half is elsewhere, and other private bytes behind the subkeys. */
    const secret = (all: readonly KeyPacket[]) =>
      write(
        all.map(({ tag, body }) => {
          if (tag === 6) return { tag: 5, body: Buffer.concat([body, Buffer.from('ff006500474e5501', 'hex')]) }
          return tag === 14 ? { tag: 7, body: Buffer.concat([body, Buffer.alloc(57, 7)]) } : { tag, body }
        }),
      )

    test('has all packets of its public file', async () => {
      const armored = await served(write(packets))
      const { data } = await unarmor(armored)

      expect(splitKey(data as Uint8Array)).toEqual(packets)
      expect(await describeKey(openpgpKey(armored))).toMatchObject({ algorithm: 'ed25519', expires: undefined })
    })

    test('is refused if it is private and may sign, and served without the subkey if it only encrypts', async () => {
      const [signing, encrypting] = [packets.slice(3, 5), packets.slice(5)]
      const rest = packets.slice(0, 3)

      await expect(served(secret(packets))).rejects.toThrow('a subkey that signs, or a revocation, is of a kind')
      await expect(served(secret([...rest, ...signing]))).rejects.toThrow('give the public half')
      expect(await served(secret([...rest, ...encrypting]))).toBe(await served(write(rest)))
    })

    test('is served without the subkey if nothing confirms it', async () => {
      const [subkey] = packets.slice(3)
      if (subkey === undefined) throw new Error('there is no subkey')
      const changed = { ...subkey, body: Buffer.concat([subkey.body, Buffer.alloc(20, 7)]) }

      expect(await served(write(packets.with(3, changed)))).toBe(await served(write(packets.toSpliced(3, 2))))
    })
  })

  test.each([
    ['a version', 5, 0],
    ['an algorithm', 30, 5],
  ])('of %s that is not known is named as such', async (_what, value, at) => {
    const [key, ...others] = splitKey(await bytesOf(pair.publicKey))
    const body = Buffer.from(key?.body ?? [])
    body[at] = value
    const unknown = Buffer.concat([{ tag: 6, body }, ...others].map((each) => packet(each)))

    await expect(served(unknown)).rejects.toThrow('the OpenPGP key is of a kind that is not supported')
  })

  test('without a user id is refused, also if it is public', async () => {
    const packets = splitKey(await bytesOf(pair.publicKey)).filter((_, at) => at === 0 || at > 2)

    await expect(served(Buffer.concat(packets.map((each) => packet(each))))).rejects.toThrow(
      'gpg takes no other; add one',
    )
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
    ['bytes after prose in another script', ({ publicKey }) => Buffer.from(`Žeton:\n${publicKey}`)],
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
