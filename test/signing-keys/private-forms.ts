import type { KeyPairKeyObjectResult } from 'node:crypto'
import { generateKeyPairSync } from 'node:crypto'
import { enums, generateKey, armor as writeArmor } from 'openpgp'
import type { GpgHome } from './gpg-home.ts'
import { field, openssh, pem } from './key-bytes.ts'
import type { SshFolder } from './ssh-folder.ts'

/** A file that holds a private key, taken apart so that a test can damage its bytes and its text. */
export interface PrivateForm {
  readonly title: string
  readonly format: 'openpgp' | 'ssh'
  /** The content, decoded from base64 where the file is a text. */
  readonly bytes: Buffer
  /** Makes a file of such content. */
  readonly write: (bytes: Uint8Array) => string | Uint8Array
  /** Bytes of the public half, and others that are no secret, one after another. */
  readonly open: Buffer
  /** The private half is under a passphrase and stands unbound beside the public half, which nothing authenticates. */
  readonly isUnbound: boolean
  /** Its public half is hidden, or it is of a kind that is not read. */
  readonly isRefused?: boolean
}

type Options = readonly string[]

const PASSPHRASE = 'secret words'
const CLEAR: Options = ['-N', '']
const HIDDEN: Options = ['-N', PASSPHRASE, '-a', '1']

const OPENSSH: readonly (readonly [title: string, options: Options])[] = [
  ['ed25519', ['-t', 'ed25519', ...CLEAR]],
  ['ecdsa-256', ['-t', 'ecdsa', '-b', '256', ...CLEAR]],
  ['ecdsa-384', ['-t', 'ecdsa', '-b', '384', ...CLEAR]],
  ['ecdsa-521', ['-t', 'ecdsa', '-b', '521', ...CLEAR]],
  ['rsa', ['-t', 'rsa', '-b', '2048', ...CLEAR]],
  ['dsa', ['-t', 'dsa', ...CLEAR]],
  ['ed25519 aes256-ctr', ['-t', 'ed25519', ...HIDDEN]],
  ['rsa aes128-cbc', ['-t', 'rsa', '-b', '2048', ...HIDDEN, '-Z', 'aes128-cbc']],
  ['ecdsa aes256-gcm', ['-t', 'ecdsa', ...HIDDEN, '-Z', 'aes256-gcm@openssh.com']],
  ['ed25519 chacha20', ['-t', 'ed25519', ...HIDDEN, '-Z', 'chacha20-poly1305@openssh.com']],
]

/** Every kind of SSH private key file that ssh-keygen writes, and one of a security key. */
export function opensshForms(folder: SshFolder): readonly PrivateForm[] {
  const made = OPENSSH.map(([title, options], index) => {
    folder.generate(`form-${index}`, options)
    const open = blobOf(folder.read(`form-${index}.pub`))
    return textForm(`OpenSSH ${title}`, 'ssh', folder.read(`form-${index}`), open, title.includes(' '))
  })
  return [...made, securityKeyForm()]
}

/** Every kind of PEM that OpenSSL writes, and labels that say another kind than the content is. */
export function pemForms(): readonly PrivateForm[] {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const ec521 = generateKeyPairSync('ec', { namedCurve: 'P-521' })
  const ed = generateKeyPairSync('ed25519')
  const dsa = generateKeyPairSync('dsa', { modulusLength: 1024, divisorLength: 160 })
  const under = { cipher: 'aes-256-cbc', passphrase: PASSPHRASE } as const
  const pkcs1 = rsa.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()
  const dsa8 = dsa.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const pemOf = (title: string, pair: KeyPairKeyObjectResult, text: string | Buffer, isRefused = false) => ({
    ...textForm(`PEM ${title}`, 'ssh', text.toString(), openParts(pair)),
    isRefused,
  })

  return [
    pemOf('PKCS#1', rsa, pkcs1),
    pemOf('PKCS#1 under a DSA label', rsa, pkcs1.replaceAll('RSA PRIVATE', 'DSA PRIVATE'), true),
    pemOf('PKCS#1 under the label of PKCS#8', rsa, pkcs1.replaceAll('RSA PRIVATE', 'PRIVATE'), true),
    pemOf('PKCS#1 under a public label', rsa, pkcs1.replaceAll('PRIVATE', 'PUBLIC'), true),
    pemOf('PKCS#1 encrypted', rsa, rsa.privateKey.export({ type: 'pkcs1', format: 'pem', ...under }), true),
    pemOf('PKCS#8 of RSA', rsa, rsa.privateKey.export({ type: 'pkcs8', format: 'pem' })),
    pemOf('PKCS#8 of RSA encrypted', rsa, rsa.privateKey.export({ type: 'pkcs8', format: 'pem', ...under }), true),
    pemOf('SEC 1', ec, ec.privateKey.export({ type: 'sec1', format: 'pem' })),
    pemOf('SEC 1 on P-521', ec521, ec521.privateKey.export({ type: 'sec1', format: 'pem' })),
    pemOf('PKCS#8 of ECDSA', ec, ec.privateKey.export({ type: 'pkcs8', format: 'pem' })),
    pemOf('PKCS#8 of Ed25519', ed, ed.privateKey.export({ type: 'pkcs8', format: 'pem' })),
    pemOf('PKCS#8 of DSA', dsa, dsa8, true),
    pemOf('PKCS#8 of DSA under a DSA label', dsa, dsa8.replaceAll('PRIVATE', 'DSA PRIVATE'), true),
  ]
}

const GPG: readonly (readonly [algorithm: string, subkey: string])[] = [
  ['rsa2048', 'rsa2048'],
  ['dsa2048', 'elg2048'],
  ['ed25519', 'cv25519'],
  ['nistp256', 'nistp256'],
  ['nistp521', 'nistp521'],
  ['brainpoolP256r1', 'brainpoolP256r1'],
  ['secp256k1', 'secp256k1'],
]

/** openpgp.js cannot verify their signatures with Node. */
const UNVERIFIABLE = ['brainpoolP256r1', 'secp256k1']

/** Secret keys as gpg exports them: each algorithm in binary form, some armored, under a passphrase, or without the primary key. */
export function gpgForms(home: GpgHome): readonly PrivateForm[] {
  const forms = GPG.map(([algorithm, subkey]) => {
    const email = makeGpgKey(home, algorithm, subkey, '')
    const binary = gpgForm(home, `${algorithm} binary`, ['--export-secret-keys', email], email)
    return { ...binary, isRefused: UNVERIFIABLE.includes(algorithm) }
  })
  const [rsa, , ed] = forms
  const hidden = makeGpgKey(home, 'ed25519', 'cv25519', PASSPHRASE)
  if (rsa === undefined || ed === undefined) throw new Error('gpg made no key')

  return [
    ...forms,
    { ...rsa, title: 'OpenPGP rsa2048 armored with a checksum', write: armored(true) },
    { ...rsa, title: 'OpenPGP rsa2048 armored without a checksum', write: armored(false) },
    { ...ed, title: 'OpenPGP ed25519 armored without a checksum', write: armored(false) },
    gpgForm(home, 'ed25519 under a passphrase', ['--passphrase', PASSPHRASE, '--export-secret-keys', hidden], hidden),
    gpgForm(home, 'rsa2048 without its primary key', ['--export-secret-subkeys', addressOf('rsa2048', '')], ''),
  ]
}

/** Secret keys as openpgp.js writes them: of version 6, and of version 4 with algorithms that gpg does not know. */
export async function openpgpjsForms(): Promise<readonly PrivateForm[]> {
  const userIDs = { name: 'Forge Signer', email: 'forge@example.com' }
  return Promise.all(
    [4, 6].flatMap((version) =>
      (['curve25519', 'curve448', 'rsa'] as const).map(async (type) => {
        const options = { type, rsaBits: 2048, userIDs, config: { v6Keys: version === 6 }, format: 'binary' } as const
        const { privateKey, publicKey } = await generateKey(options)
        return form(`OpenPGP ${type} version ${version}`, 'openpgp', Buffer.from(privateKey), Buffer.from(publicKey))
      }),
    ),
  )
}

function makeGpgKey(home: GpgHome, algorithm: string, subkey: string, passphrase: string): string {
  const email = addressOf(algorithm, passphrase)
  const primary = home.generate(email, algorithm, passphrase)
  home.run(['--passphrase', passphrase, '--quick-add-key', primary, subkey, 'encr', 'never'])
  home.run(['--passphrase', passphrase, '--quick-add-key', primary, `${algorithm}/sign`, 'sign', 'never'])
  return email
}

function addressOf(algorithm: string, passphrase: string): string {
  return `${algorithm}-${passphrase.length}@example.com`.toLowerCase()
}

function gpgForm(home: GpgHome, title: string, options: Options, email: string): PrivateForm {
  const names = email === '' ? options.slice(-1) : [email]
  return form(`OpenPGP ${title}`, 'openpgp', home.run(['--yes', ...options]), home.run(['--export', ...names]))
}

function form(title: string, format: 'openpgp' | 'ssh', bytes: Buffer, open: Buffer): PrivateForm {
  return { title, format, bytes, open, write: (changed) => changed, isUnbound: false }
}

function armored(checksum: boolean): PrivateForm['write'] {
  return (bytes) =>
    writeArmor(enums.armor.privateKey, Uint8Array.from(bytes), undefined, undefined, undefined, checksum).toString()
}

function textForm(
  title: string,
  format: 'openpgp' | 'ssh',
  text: string,
  open: Buffer,
  isUnbound = false,
): PrivateForm {
  const [first = '', ...body] = text.trim().split('\n').slice(0, -1)
  const label = first.slice('-----BEGIN '.length, -'-----'.length)
  const headers = body.filter((line) => line.includes(':'))
  const bytes = Buffer.from(body.filter((line) => !line.includes(':')).join(''), 'base64')
  const write = (changed: Uint8Array) => {
    const [begin = '', ...lines] = pem(label, changed).split('\n')
    return [begin, ...(headers.length > 0 ? [...headers, ''] : []), ...lines].join('\n')
  }
  return { title, format, bytes, write, open, isUnbound }
}

/** What of a key pair is public, in every encoding of it. */
function openParts({ publicKey }: KeyPairKeyObjectResult): Buffer {
  return publicKey.export({ type: 'spki', format: 'der' })
}

function blobOf(line: string): Buffer {
  return Buffer.from(line.split(' ')[1] ?? '', 'base64')
}

function securityKeyForm(): PrivateForm {
  const { x = '' } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
  const blob = Buffer.concat([field('sk-ssh-ed25519@openssh.com'), field(Buffer.from(x, 'base64url')), field('ssh:')])
  const handle = generateKeyPairSync('ed448').publicKey.export({ type: 'spki', format: 'der' })
  const secret = Buffer.concat([Buffer.alloc(8, 0x5a), blob, Buffer.of(1), field(handle), field(''), field('forge')])
  const padding = Buffer.from([1, 2, 3, 4, 5, 6, 7]).subarray(0, (8 - (secret.length % 8)) % 8)
  const clear = [field('none'), field('none'), field(''), Buffer.of(0, 0, 0, 1)]
  const text = openssh(...clear, field(blob), field(Buffer.concat([secret, padding])))
  return textForm('OpenSSH security key', 'ssh', text, blob)
}
