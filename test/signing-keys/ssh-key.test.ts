import { generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateKey, sshKey } from '../../src/signing-keys/signing-keys.ts'
import { describeWith } from '../programs.ts'
import { der, field, openssh, pem as pemBlock } from './key-bytes.ts'
import { SshFolder } from './ssh-folder.ts'

const unreadable = { code: 'SIGNING_KEY_UNREADABLE' }
const PKCS8 = { type: 'pkcs8', format: 'pem' } as const

async function served(key: string): Promise<string> {
  return (await sshKey(key).publicKey()).text
}

/** Type and key of a public line, without the comment. */
function keyOf(line: string): string {
  return line.trim().split(' ').slice(0, 2).join(' ')
}

describeWith(['ssh-keygen'], 'SSH keys that ssh-keygen made', () => {
  let folder: SshFolder
  beforeAll(() => {
    folder = new SshFolder()
  })
  afterAll(() => folder.remove())

  const encrypted = ['-N', 'secret words', '-a', '1']
  const kinds: readonly (readonly [string, readonly string[]])[] = [
    ['ed25519', ['-t', 'ed25519', '-N', '']],
    ['ecdsa-256', ['-t', 'ecdsa', '-b', '256', '-N', '']],
    ['ecdsa-384', ['-t', 'ecdsa', '-b', '384', '-N', '']],
    ['ecdsa-521', ['-t', 'ecdsa', '-b', '521', '-N', '']],
    ['rsa', ['-t', 'rsa', '-b', '2048', '-N', '']],
    ['dsa', ['-t', 'dsa', '-N', '']],
    ['ed25519-aes256-ctr', ['-t', 'ed25519', ...encrypted]],
    ['rsa-aes128-cbc', ['-t', 'rsa', '-b', '2048', ...encrypted, '-Z', 'aes128-cbc']],
    ['ed25519-aes256-gcm', ['-t', 'ed25519', ...encrypted, '-Z', 'aes256-gcm@openssh.com']],
    ['ecdsa-chacha20', ['-t', 'ecdsa', ...encrypted, '-Z', 'chacha20-poly1305@openssh.com']],
    ['rsa-pem', ['-t', 'rsa', '-b', '2048', '-N', '', '-m', 'PEM']],
    ['ecdsa-pem', ['-t', 'ecdsa', '-N', '', '-m', 'PEM']],
    ['rsa-pkcs8', ['-t', 'rsa', '-b', '2048', '-N', '', '-m', 'PKCS8']],
    ['ecdsa-pkcs8', ['-t', 'ecdsa', '-b', '521', '-N', '', '-m', 'PKCS8']],
  ]
  describe.each(kinds)('%s', (name, options) => {
    beforeAll(() => folder.generate(name, options))

    test('the public file is served as it is', async () => {
      const text = await served(folder.read(`${name}.pub`))

      expect(text).toBe(folder.read(`${name}.pub`))
      expect(folder.describe(text)).toBe(folder.describe(folder.read(`${name}.pub`)))
    })

    test('the private file is served as its public half without a comment', async () => {
      const text = await served(folder.read(name))

      expect(text).toBe(`${keyOf(folder.read(`${name}.pub`))}\n`)
      expect(folder.fingerprint(text)).toBe(folder.fingerprint(folder.read(`${name}.pub`)))
    })

    test('git’s literal form is served without its prefix', async () => {
      expect(await served(`key::${folder.read(`${name}.pub`)}`)).toBe(folder.read(`${name}.pub`))
    })

    test('a certificate for it is served as it is', async () => {
      folder.generate(`${name}-authority`, ['-t', 'ed25519', '-N', ''])
      const names = ['-I', 'forge', '-n', 'git', '-V', '+1w']
      folder.keygen(['-q', '-s', join(folder.path, `${name}-authority`), ...names, join(folder.path, `${name}.pub`)])
      const certificate = folder.read(`${name}-cert.pub`)

      expect(await served(certificate)).toBe(certificate)
    })
  })

  const hidden: readonly (readonly [string, readonly string[]])[] = [
    ['PEM', ['-t', 'rsa', '-b', '2048', ...encrypted, '-m', 'PEM']],
    ['PKCS8', ['-t', 'ecdsa', ...encrypted, '-m', 'PKCS8']],
  ]
  test.each(hidden)(
    '%s under a passphrase hides its public half, and the error says what to give',
    async (name, options) => {
      folder.generate(`hidden-${name}`, options)

      await expect(served(folder.read(`hidden-${name}`))).rejects.toThrow('give its .pub file')
    },
  )

  test('a public key made by the library is described alike in the public and the private file', async () => {
    const { privateKey, publicKey } = await generateKey({ format: 'ssh', name: 'Forge', email: 'forge@example.com' })

    expect(folder.keygen(['-yf', folder.write('made', privateKey)])).toBe(publicKey)
    expect(folder.describe(await served(privateKey))).toContain(folder.fingerprint(publicKey))
    expect(await served(publicKey)).toBe(publicKey)
  })

  test('a made key signs what its public half verifies', async () => {
    const { privateKey, publicKey } = await generateKey({ format: 'ssh', name: 'Forge', email: 'forge@example.com' })
    const message = folder.write('message', 'a commit')
    folder.keygen(['-q', '-Y', 'sign', '-n', 'git', '-f', folder.write('signer', privateKey), message])
    const signers = folder.write('signers', `forge@example.com ${publicKey}`)
    const who = folder.keygen(['-Y', 'find-principals', '-s', `${message}.sig`, '-f', signers])

    expect(who.trim()).toBe('forge@example.com')
  })

  const securityKeys = [
    ['sk-ssh-ed25519@openssh.com', field(Buffer.alloc(32, 7))],
    ['sk-ecdsa-sha2-nistp256@openssh.com', Buffer.concat([field('nistp256'), field(ecPoint())])],
  ] as const
  test.each(securityKeys)('%s is served as it is, and ssh-keygen knows it', async (type, fields) => {
    const blob = Buffer.concat([field(type), fields, field('ssh:')])
    const line = `${type} ${blob.toString('base64')} forge@example.com\n`

    expect(await served(line)).toBe(line)
    expect(folder.describe(line)).toContain('-SK)')
  })
})

function ecPoint(): Buffer {
  const { x = '', y = '' } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' })
  return Buffer.concat([Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')])
}

describe('an SSH key', () => {
  const seed = Buffer.alloc(32, 0x5a)
  const blob = Buffer.concat([field('ssh-ed25519'), field(Buffer.alloc(32, 7))])
  const line = `ssh-ed25519 ${blob.toString('base64')} forge@example.com\n`
  const lineOf = (...parts: readonly Buffer[]) => `ssh-ed25519 ${Buffer.concat(parts).toString('base64')} forge\n`

  const allowed: readonly (readonly [string, string])[] = [
    ['with CRLF line ends', line.replaceAll('\n', '\r\n')],
    ['with a byte order mark', `\uFEFF${line}`],
    ['without a newline at the end', line.trimEnd()],
    ['with blank lines and remarks around it', `# our key\n\n${line}\n\n`],
    ['with wide gaps', line.replaceAll(' ', ' \t ')],
  ]
  test.each(allowed)('%s is served like any other', async (_title, key) => {
    expect(await served(key)).toBe(line)
  })

  const kept = [
    ['words', 'the  Forgé, 2026 <forge@example.com>'],
    ['a long name', 'a key of the-very-long-name-of-a-machine'],
    ['a date', '2026-11-25'],
    ['letters beyond ASCII', 'Forgé Signer, second'],
  ] as const
  test.each(kept)('whose comment has %s is served with it', async (_what, comment) => {
    expect(await served(line.replace('forge@example.com', comment))).toBe(line.replace('forge@example.com', comment))
  })

  const left = [
    ['nothing', ''],
    ['base64', 'Zm9yZ2VsZXQgaXMgMTIrIGJ5dGVz'],
    ['base64 behind a word', 'k=Zm9yZ2VsZXQgaXMgMTIr9'],
    ['hexadecimal digits', 'deadbeef'.repeat(4)],
    ['a private key', `forge ${generateKeyPairSync('ed25519').privateKey.export(PKCS8)}`.replaceAll('\n', ' ')],
    ['the heading of a private key', 'forge private key'],
    ['control characters', 'forge\x1b[2J@example.com'],
    ['half a character', 'forge\ud83d'],
    ['a character that was broken', 'Jos\uFFFD'],
  ] as const
  test.each(left)('whose comment has %s is served without it', async (_what, comment) => {
    expect(await served(line.replace('forge@example.com', comment))).toBe(line.replace(' forge@example.com', ''))
  })

  test('in PEM is refused as DSA with a reason', async () => {
    for (const key of [dsa, dsa.replaceAll('PRIVATE', 'DSA PRIVATE'), rsa.replaceAll('RSA PRIVATE', 'DSA PRIVATE')]) {
      await expect(served(key)).rejects.toMatchObject({ ...unreadable, message: expect.stringContaining('a DSA key') })
    }
  })

  test('in SEC 1 or PKCS#8 may leave out its public half', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const secret = Buffer.from(privateKey.export({ format: 'jwk' }).d ?? '', 'base64url')
    const bare = (...rest: readonly Buffer[]) => der(0x30, Buffer.of(2, 1, 1), der(0x04, secret), ...rest)
    const curve = der(0x06, Buffer.from('2a8648ce3d030107', 'hex'))
    const algorithm = der(0x30, der(0x06, Buffer.from('2a8648ce3d0201', 'hex')), curve)
    const expected = await served(privateKey.export(PKCS8).toString())

    expect(await served(pemBlock('EC PRIVATE KEY', bare(der(0xa0, curve))))).toBe(expected)
    expect(await served(pemBlock('PRIVATE KEY', der(0x30, Buffer.of(2, 1, 0), algorithm, der(0x04, bare()))))).toBe(
      expected,
    )
    await expect(served(pemBlock('EC PRIVATE KEY', bare()))).rejects.toMatchObject(unreadable)
  })

  const pemKinds = [
    ['ed25519', 'pkcs8'],
    ['ed25519', 'spki'],
    ['rsa', 'spki'],
    ['rsa', 'pkcs1'],
  ] as const
  test.each(pemKinds)('in PEM, %s as %s, has neither a comment nor a space at the end', async (algorithm, type) => {
    const { publicKey, privateKey } =
      algorithm === 'rsa' ? generateKeyPairSync('rsa', { modulusLength: 2048 }) : generateKeyPairSync('ed25519')
    const half =
      type === 'pkcs8' ? privateKey.export({ type, format: 'pem' }) : publicKey.export({ type, format: 'pem' })

    expect(await served(half.toString())).toMatch(/^ssh-(?:ed25519|rsa) \S+\n$/)
  })

  test('is found behind the parameters that openssl writes before it', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const parameters = '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n'

    expect(await served(`${parameters}${privateKey.export({ type: 'sec1', format: 'pem' })}`)).toMatch(
      /^ecdsa-sha2-nistp256 /,
    )
  })

  const { privateKey: pem } = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  const clear = [field('none'), field('none'), field('')]
  const bcrypt = field(Buffer.concat([field(Buffer.alloc(16)), Buffer.of(0, 0, 0, 16)]))
  const rsaLine = (...numbers: readonly Buffer[]) =>
    `ssh-rsa ${Buffer.concat([field('ssh-rsa'), ...numbers.map(field)]).toString('base64')}\n`
  const pointLine = (point: Buffer) =>
    `ecdsa-sha2-nistp256 ${Buffer.concat(['ecdsa-sha2-nistp256', 'nistp256', point].map(field)).toString('base64')}\n`
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
    .privateKey.export({ type: 'pkcs1', format: 'pem' })
    .toString()
  const dsa = generateKeyPairSync('dsa', { modulusLength: 1024, divisorLength: 160 })
    .privateKey.export(PKCS8)
    .toString()
  const secp256k1 = generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey.export(PKCS8).toString()
  const broken: readonly (readonly [string, string])[] = [
    ['an empty text', ''],
    ['blank lines', ' \n\n'],
    ['garbage', 'garbage'],
    ['a path', '~/.ssh/id_ed25519.pub'],
    ['a type without a key', 'ssh-ed25519\n'],
    ['an unknown type', line.replace('ssh-ed25519', 'ssh-ed448')],
    ['a type that is a property of every object', `constructor ${blob.toString('base64')}`],
    ['another type than the one inside', line.replace('ssh-ed25519', 'ssh-rsa')],
    ['options before the type', `no-pty ${line}`],
    ['letters that are not base64', line.replace('AAAA', 'AA*A')],
    ['a key cut off', lineOf(blob.subarray(0, -1))],
    ['a length beyond the end', lineOf(field('ssh-ed25519'), Buffer.of(0xff, 0xff, 0xff, 0xff), Buffer.alloc(32))],
    ['a key with private bytes behind it', lineOf(blob, field(seed))],
    ['a key that is a private one by its length', lineOf(field('ssh-ed25519'), field(Buffer.concat([seed, seed])))],
    ['two keys', line + line],
    ['a public and a private key', `${line}\n${pem}`],
    ['another line beside the key', `${line}and more\n`],
    ['a carriage return that hides a second line', line.replace('forge@', 'forge\rssh-rsa AAAA ')],
    ['an OpenPGP key', '-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmDME\n-----END PGP PUBLIC KEY BLOCK-----\n'],
    ['PEM cut off', pem.slice(0, 60)],
    ['PEM with a body cut off', pem.replace(/\n.{20}/, '\n')],
    ['PEM of another kind', pem.replaceAll('PRIVATE KEY', 'CERTIFICATE')],
    ['an OpenSSH key of another magic', openssh().replace('b3Bl', 'b3Bm')],
    ['an OpenSSH key without anything', openssh()],
    ['an OpenSSH key of two', openssh(...clear, Buffer.of(0, 0, 0, 2), field(blob), field(blob), field(seed))],
    ['an OpenSSH key without its private part', openssh(...clear, Buffer.of(0, 0, 0, 1), field(blob))],
    [
      'an encrypted OpenSSH key with bytes behind it',
      openssh(field('aes256-ctr'), field('bcrypt'), bcrypt, Buffer.of(0, 0, 0, 1), field(blob), field(seed), seed),
    ],
    ['an RSA private key under a public label', rsa.replaceAll('PRIVATE', 'PUBLIC')],
    ['an elliptic curve that SSH does not know', secp256k1],
    ['a number with a needless zero', rsaLine(Buffer.of(1, 0, 1), Buffer.of(0, 0x7f, ...Buffer.alloc(255, 1)))],
    ['a negative number', rsaLine(Buffer.of(1, 0, 1), Buffer.alloc(256, 0xff))],
    ['a point that is not on its curve', pointLine(Buffer.concat([Buffer.of(4), Buffer.alloc(64, 1)]))],
    [
      'an OpenSSH key with private bytes in the public part',
      openssh(...clear, Buffer.of(0, 0, 0, 1), field(Buffer.concat([blob, seed])), field(seed)),
    ],
  ]
  test.each(broken)('cannot be read from %s', async (_title, key) => {
    await expect(served(key)).rejects.toMatchObject(unreadable)
  })

  test('is parsed only when it is asked for', () => {
    expect(sshKey('garbage').format).toBe('ssh')
  })

  test('answers at once when it was parsed', async () => {
    const key = sshKey(line)
    const answer = await key.publicKey()

    expect(key.publicKey()).toBe(answer)
  })

  test('is a TypeError at once if it is not a string', () => {
    // @ts-expect-error an argument of a wrong type
    expect(() => sshKey(Buffer.from(line))).toThrow(TypeError)
  })
})
