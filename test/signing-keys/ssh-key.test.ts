import { createECDH, createHash, generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { allowedSigners, describeKey, generateKey, openpgpKey, sshKey } from '../../src/signing-keys/signing-keys.ts'
import { describeWith } from '../programs.ts'
import { field, openssh } from './key-bytes.ts'
import { OPENSSH_KINDS, SshFolder } from './ssh-folder.ts'

const unreadable = { code: 'SIGNING_KEY_UNREADABLE' }
const PKCS8 = { type: 'pkcs8', format: 'pem' } as const

async function served(key: string): Promise<string> {
  return (await sshKey(key).publicKey()).text
}

describeWith(['ssh-keygen'], 'SSH keys that ssh-keygen made', () => {
  const folder = new SshFolder()
  beforeAll(() => folder.generate('authority', ['-t', 'ed25519', '-N', '']))
  afterAll(() => folder.remove())

  const kinds = {
    ...OPENSSH_KINDS,
    'rsa-pem': ['-t', 'rsa', '-b', '2048', '-N', '', '-m', 'PEM'],
    'ecdsa-pkcs8': ['-t', 'ecdsa', '-b', '521', '-N', '', '-m', 'PKCS8'],
  }
  test.each(Object.entries(kinds))(
    '%s is served from its public file, its private file, and as a certificate, and described as ssh-keygen does',
    async (name, options) => {
      folder.generate(name, options)
      const line = folder.read(`${name}.pub`)
      const names = ['-I', 'forge', '-n', 'forge@example.com', '-V', '+1w']
      folder.keygen(['-q', '-s', join(folder.path, 'authority'), ...names, join(folder.path, `${name}.pub`)])
      const certificate = folder.read(`${name}-cert.pub`)

      expect(await served(line)).toBe(line)
      for (const before of ['key::', 'key:: ', '  ']) expect(await served(`${before}${line}`)).toBe(line)
      expect(await served(folder.read(name))).toBe(line.replace(' forge@example.com', ''))
      expect(await served(certificate)).toBe(certificate)
      for (const text of [line, certificate]) {
        expect(await describeKey(sshKey(text))).toMatchObject(folder.described(text))
      }
      const { expires } = await describeKey(sshKey(certificate))
      expect((expires?.getTime() ?? 0) - Date.now()).toBeGreaterThan(6 * 86_400_000)
    },
  )

  test('a made key is known to ssh-keygen, and signs what its public half verifies', async () => {
    const { privateKey, publicKey } = await generateKey({ format: 'ssh', name: 'Forge', email: 'forge@example.com' })
    const message = folder.write('message', 'a commit')
    folder.keygen(['-q', '-Y', 'sign', '-n', 'git', '-f', folder.write('signer', privateKey), message])
    const signers = folder.write('signers', `forge@example.com ${publicKey}`)
    const who = folder.keygen(['-Y', 'find-principals', '-s', `${message}.sig`, '-f', signers])

    expect(folder.keygen(['-yf', join(folder.path, 'signer')])).toBe(publicKey)
    expect(who.trim()).toBe('forge@example.com')
  })

  const tokens: readonly (readonly [type: string, fields: readonly (string | Uint8Array)[]])[] = [
    ['sk-ssh-ed25519@openssh.com', [Buffer.alloc(32, 7), 'ssh:']],
    ['sk-ecdsa-sha2-nistp256@openssh.com', ['nistp256', createECDH('prime256v1').generateKeys(), 'ssh:forge']],
  ]
  test.each(tokens)('%s is served as it is, also certified, and described as ssh-keygen does', async (type, fields) => {
    const line = lineOf(type, ...fields)
    const names = ['-I', 'forge', '-n', 'forge@example.com', '-V', '+1w']
    folder.keygen(['-q', '-s', join(folder.path, 'authority'), ...names, folder.write('token.pub', line)])
    const certificate = folder.read('token-cert.pub')

    for (const text of [line, certificate]) {
      expect(await served(text)).toBe(text)
      expect(await describeKey(sshKey(text))).toMatchObject(folder.described(text))
    }
    const [first = '', ...others] = fields
    for (const broken of [
      [Buffer.concat([field(first), Buffer.of(7)]), ...others],
      [first, ...others, 'ssh:'],
      [first, ...others.with(-1, Buffer.alloc(64, 0x83))],
    ]) {
      await expect(served(lineOf(type, ...broken))).rejects.toMatchObject(unreadable)
    }
  })

  test('a certificate is served by an authority of any kind, and its signers are those of the authority', async () => {
    const authority = folder.read('authority.pub')
    folder.generate('certified', ['-t', 'ecdsa', '-N', ''])
    folder.keygen([
      '-q',
      '-s',
      join(folder.path, 'authority'),
      '-I',
      'forge',
      '-n',
      'a',
      `${folder.path}/certified.pub`,
    ])
    const [type = '', base64 = ''] = folder.read('certified-cert.pub').split(' ')
    const own = Buffer.from(authority.split(' ')[1] ?? '', 'base64')
    const [before = Buffer.of()] = [Buffer.from(base64, 'base64')].map((blob) =>
      blob.subarray(0, blob.indexOf(field(own))),
    )
    for (const [kind, fields] of [...tokens, POST_QUANTUM]) {
      const line = lineOf(kind, ...fields)
      const blob = Buffer.from(line.split(' ')[1] ?? '', 'base64')
      const certificate = `${type} ${Buffer.concat([before, field(blob), field('signature')]).toString('base64')}\n`

      expect(await served(certificate)).toBe(certificate)
      expect(await describeKey(sshKey(certificate))).toMatchObject({ algorithm: 'ecdsa-cert', bits: 256 })
      expect(await allowedSigners(sshKey(certificate), ['a'])).toBe(
        `a cert-authority,namespaces="git" ${line.replace(' forge@example.com', '')}`,
      )
    }
    const cut = Buffer.concat([before, field(own)]).toString('base64')
    await expect(served(`${type} ${cut}\n`)).rejects.toMatchObject(unreadable)
  })
})

/** A public line of any fields. */
function lineOf(type: string, ...fields: readonly (string | Uint8Array)[]): string {
  return `${type} ${Buffer.concat([type, ...fields].map(field)).toString('base64')} forge@example.com\n`
}

const POST_QUANTUM = ['ssh-mldsa44-ed25519', [Buffer.alloc(1344, 7)]] as const

describe('an SSH key of a kind that sshpk does not know', () => {
  test.each([
    [...POST_QUANTUM, { algorithm: 'mldsa44-ed25519', bits: 512 }],
    ['ssh-mldsa-65', [Buffer.alloc(1952, 7)], { algorithm: 'mldsa-65', bits: 15_616 }],
  ] as const)('%s is served as it is, also from a private file, and described', async (type, fields, described) => {
    const line = lineOf(type, ...fields)
    const blob = Buffer.from(line.split(' ')[1] ?? '', 'base64')
    const [clear, one] = [[field('none'), field('none'), field('')], Buffer.of(0, 0, 0, 1)]
    const secret = Buffer.concat([Buffer.alloc(8), blob, field(Buffer.alloc(64, 9)), field('forge')])
    const fingerprint = `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`

    expect(await served(line)).toBe(line)
    expect(await served(openssh(...clear, one, field(blob), field(secret)))).toBe(
      line.replace(' forge@example.com', ''),
    )
    expect(await describeKey(sshKey(line))).toMatchObject({ ...described, fingerprint })
  })

  test.each([
    ['no field', lineOf('ssh-new')],
    ['an empty field', lineOf('ssh-new', '')],
    ['a field that is cut off', lineOf('ssh-new', 'key').replace(/.{4} forge/, ' forge')],
    ['another type in it', lineOf('ssh-new', 'key').replace('ssh-new ', 'ssh-old ')],
    ['a type that is not a word', lineOf('ssh-"', 'key')],
  ])('with %s is refused', async (_what, line) => {
    await expect(served(line)).rejects.toMatchObject(unreadable)
  })
})

describe('a damaged SSH key', () => {
  test.each([
    ['a public line', 'ssh-keygen -y', 'ssh-ed25519 AAAA\n'],
    ['a public block', 'ssh-keygen -y', '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n'],
    ['a private block', 'give its .pub file', '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n'],
  ])('in %s says what to do: %s', async (_where, todo, key) => {
    await expect(served(key)).rejects.toThrow(todo)
  })
})

describe('an SSH key', () => {
  const seed = Buffer.alloc(32, 0x5a)
  const blob = Buffer.concat([field('ssh-ed25519'), field(Buffer.alloc(32, 7))])
  const line = `ssh-ed25519 ${blob.toString('base64')} forge@example.com\n`
  const ed25519Of = (...parts: readonly Buffer[]) => `ssh-ed25519 ${Buffer.concat(parts).toString('base64')} forge\n`

  const allowed: readonly (readonly [string, string])[] = [
    ['with CRLF line ends', line.replaceAll('\n', '\r\n')],
    ['with a byte order mark', `\uFEFF${line}`],
    ['without a newline at the end', line.trimEnd()],
    ['with other lines around it', `# our key\n\n${line}\nand more\n`],
    ['with wide gaps', line.replaceAll(' ', ' \t ')],
  ]
  test.each(allowed)('%s is served like any other', async (_title, key) => {
    expect(await served(key)).toBe(line)
  })

  const comments: readonly (readonly [what: string, comment: string, isServed: boolean])[] = [
    ['words', 'the  Forgé, 2026 <forge@example.com>', true],
    ['a long name', 'a key of the-very-long-name-of-a-machine', true],
    ['nothing', '', false],
    ['base64', Buffer.alloc(24, 'forge').toString('base64'), false],
    ['hexadecimal digits', 'deadbeef'.repeat(4), false],
    ['a private key', `forge ${generateKeyPairSync('ed25519').privateKey.export(PKCS8)}`.replaceAll('\n', ' '), false],
    ['control characters', 'forge\x1b[2J@example.com', false],
    ['half a character', 'forge\ud83d', false],
    ['a character that was broken', 'Jos\uFFFD', false],
  ]
  test.each(comments)(
    'whose comment has %s is served, with it only if it is harmless',
    async (_what, comment, isServed) => {
      const expected = line.replace(' forge@example.com', isServed ? ` ${comment}` : '')

      expect(await served(line.replace('forge@example.com', comment))).toBe(expected)
    },
  )

  test.each(['rsa', 'ed25519'] as const)('in PEM, %s is the same from either half, without a comment', async (kind) => {
    const { publicKey, privateKey } =
      kind === 'rsa' ? generateKeyPairSync('rsa', { modulusLength: 2048 }) : generateKeyPairSync('ed25519')
    const text = await served(privateKey.export(PKCS8).toString())

    expect(text).toMatch(/^ssh-(?:ed25519|rsa) \S+\n$/)
    expect(await served(publicKey.export({ type: 'spki', format: 'pem' }).toString())).toBe(text)
  })

  test('is found behind the parameters that openssl writes before it', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const parameters = '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n'
    const key = privateKey.export({ type: 'sec1', format: 'pem' })

    expect(await served(`${parameters}${key}`)).toMatch(/^ecdsa-sha2-nistp256 /)
  })

  const pem = generateKeyPairSync('ed25519').privateKey.export(PKCS8).toString()
  const clear = [field('none'), field('none'), field('')]
  const one = Buffer.of(0, 0, 0, 1)
  const bcrypt = field(Buffer.concat([field(Buffer.alloc(16)), Buffer.of(0, 0, 0, 16)]))
  const rsaLine = (number: Buffer) =>
    `ssh-rsa ${Buffer.concat([field('ssh-rsa'), field(Buffer.of(1, 0, 1)), field(number)]).toString('base64')}\n`
  const point = Buffer.concat([Buffer.of(4), Buffer.alloc(64, 1)])
  const ecdsa = Buffer.concat(['ecdsa-sha2-nistp256', 'nistp256', point].map(field)).toString('base64')
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' })
  const dsa = generateKeyPairSync('dsa', { modulusLength: 1024, divisorLength: 160 }).privateKey.export(PKCS8)
  const secp256k1 = generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey.export(PKCS8)
  const broken: readonly (readonly [string, string])[] = [
    ['a type without a key', 'ssh-ed25519\n'],
    ['an unknown type', line.replace('ssh-ed25519', 'ssh-ed448')],
    ['another type than the one inside', line.replace('ssh-ed25519', 'ssh-rsa')],
    ['options before the type', `no-pty ${line}`],
    ['letters that are not base64', line.replace('AAAA', 'AA*A')],
    ['a key cut off', ed25519Of(blob.subarray(0, -1))],
    ['a length beyond the end', ed25519Of(field('ssh-ed25519'), Buffer.of(0xff, 0xff, 0xff, 0xff), Buffer.alloc(32))],
    ['a key with private bytes behind it', ed25519Of(blob, field(seed))],
    ['a key that is a private one by its length', ed25519Of(field('ssh-ed25519'), field(Buffer.concat([seed, seed])))],
    ['two keys', line + line],
    ['two keys, one with options', `${line}no-pty ${line}`],
    ['a public and a private key', `${line}\n${pem}`],
    ['a private and a public key', `${pem}\n${line}`],
    ['a carriage return that hides a second line', line.replace('forge@', 'forge\rssh-rsa AAAA ')],
    ['an OpenPGP key', '-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmDME\n-----END PGP PUBLIC KEY BLOCK-----\n'],
    ['PEM cut off', pem.slice(0, 60)],
    ['PEM with a body cut off', pem.replace(/\n.{20}/, '\n')],
    ['DSA in PEM', dsa.toString()],
    ['DSA in PEM under a DSA label', dsa.toString().replaceAll('PRIVATE', 'DSA PRIVATE')],
    ['an OpenSSH key of another magic', openssh().replace('b3Bl', 'b3Bm')],
    ['an OpenSSH key of two', openssh(...clear, Buffer.of(0, 0, 0, 2), field(blob), field(blob), field(seed))],
    ['an OpenSSH key without its private part', openssh(...clear, one, field(blob))],
    ['an OpenSSH key of another private part', openssh(...clear, one, field(blob), field(seed))],
    [
      'an encrypted OpenSSH key with bytes behind it',
      openssh(field('aes256-ctr'), field('bcrypt'), bcrypt, one, field(blob), field(seed), seed),
    ],
    ['an RSA private key under a public label', rsa.toString().replaceAll('PRIVATE', 'PUBLIC')],
    ['an elliptic curve that SSH does not know', secp256k1.toString()],
    ['a number with a needless zero', rsaLine(Buffer.of(0, 0x7f, ...Buffer.alloc(255, 1)))],
    ['RSA of fewer than 1024 bits', rsaLine(Buffer.of(0, ...Buffer.alloc(120, 0xff)))],
    ['RSA with a long exponent', lineOf('ssh-rsa', Buffer.alloc(9, 5), Buffer.of(0, ...Buffer.alloc(256, 0xff)))],
    ['a negative number', rsaLine(Buffer.alloc(256, 0xff))],
    ['a point that is not on its curve', `ecdsa-sha2-nistp256 ${ecdsa}\n`],
    [
      'an OpenSSH key with private bytes in the public part',
      openssh(...clear, one, field(Buffer.concat([blob, seed])), field(seed)),
    ],
    [
      'an OpenSSH key whose public part is a copy of its private bytes',
      openssh(
        ...clear,
        one,
        field(Buffer.concat([field('ssh-ed25519'), field(seed)])),
        field(Buffer.concat([Buffer.alloc(8), blob, field(Buffer.concat([seed, blob.subarray(-32)])), field('forge')])),
      ),
    ],
  ]
  test.each(broken)('cannot be read from %s', async (_title, key) => {
    await expect(served(key)).rejects.toMatchObject(unreadable)
  })

  test('is parsed once, when it is asked for, and answers at once then', async () => {
    const key = sshKey(line)
    const answer = await key.publicKey()

    expect(key.publicKey()).toBe(answer)
    expect(sshKey('garbage').format).toBe('ssh')
    // @ts-expect-error an argument of a wrong type
    expect(() => sshKey(Buffer.from(line))).toThrow(TypeError)
  })
})

describe('allowedSigners', () => {
  const who = { name: 'Forge', email: 'forge@example.com' }

  test('has a line for each key, for the principals and git alone', async () => {
    const { publicKey } = await generateKey({ format: 'ssh', ...who })
    const key = await sshKey(publicKey).publicKey()

    expect(
      await allowedSigners({ ...key, text: `${key.text}${key.text}` }, ['forge@example.com', '*@example.org']),
    ).toBe(`forge@example.com,*@example.org namespaces="git" ${publicKey}`.repeat(2))
  })

  test('refuses an OpenPGP key, and principals that would be read as something else', async () => {
    const { publicKey } = await generateKey({ format: 'openpgp', ...who })

    await expect(allowedSigners(openpgpKey(publicKey), ['forge@example.com'])).rejects.toThrow('format is openpgp')
    for (const principals of [[], ['a b'], ['a,b'], ['a"'], ['#a'], ['a\n']]) {
      await expect(allowedSigners(sshKey(publicKey), principals)).rejects.toThrow('allowedSigners needs principals')
    }
  })
})
