import type { KeyPairKeyObjectResult } from 'node:crypto'
import { generateKeyPairSync } from 'node:crypto'
import { generateKey } from 'openpgp'
import type { GpgHome } from './gpg-home.ts'
import { field, openssh, pem } from './key-bytes.ts'
import type { SshFolder } from './ssh-folder.ts'
import { OPENSSH_KINDS, PASSPHRASE } from './ssh-folder.ts'

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
  readonly isUnbound?: boolean
  /** Its public half is hidden, or it is of a kind that is not read. */
  readonly isRefused?: boolean
}

/** Every kind of SSH private key file that ssh-keygen writes, and one of a security key. */
export function opensshForms(folder: SshFolder): readonly PrivateForm[] {
  const made = Object.entries(OPENSSH_KINDS).map(([title, options]) => {
    folder.generate(title, options)
    const open = Buffer.from(folder.read(`${title}.pub`).split(' ')[1] ?? '', 'base64')
    return { ...textForm(`OpenSSH ${title}`, folder.read(title), open), isUnbound: title.includes(' ') }
  })
  return [...made, securityKeyForm()]
}

function securityKeyForm(): PrivateForm {
  const { x = '' } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
  const blob = Buffer.concat([field('sk-ssh-ed25519@openssh.com'), field(Buffer.from(x, 'base64url')), field('ssh:')])
  const handle = generateKeyPairSync('ed448').publicKey.export({ type: 'spki', format: 'der' })
  const secret = Buffer.concat([Buffer.alloc(8, 0x5a), blob, Buffer.of(1), field(handle), field(''), field('forge')])
  const clear = [field('none'), field('none'), field(''), Buffer.of(0, 0, 0, 1)]
  return textForm('OpenSSH security key', openssh(...clear, field(blob), field(secret)), blob)
}

/** Every kind of PEM that OpenSSL writes, and labels that say another kind than the content is. */
export function pemForms(): readonly PrivateForm[] {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const ec521 = generateKeyPairSync('ec', { namedCurve: 'P-521' })
  const under = { cipher: 'aes-256-cbc', passphrase: PASSPHRASE } as const
  const pkcs1 = rsa.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()
  const form = (title: string, { publicKey }: KeyPairKeyObjectResult, text: string | Buffer) =>
    textForm(`PEM ${title}`, text.toString(), publicKey.export({ type: 'spki', format: 'der' }))
  const pkcs8 = (title: string, pair: KeyPairKeyObjectResult) =>
    form(`PKCS#8 of ${title}`, pair, pair.privateKey.export({ type: 'pkcs8', format: 'pem' }))
  const refused = [
    form('PKCS#1 under a DSA label', rsa, pkcs1.replaceAll('RSA PRIVATE', 'DSA PRIVATE')),
    form('PKCS#1 under the label of PKCS#8', rsa, pkcs1.replaceAll('RSA PRIVATE', 'PRIVATE')),
    form('PKCS#1 under a public label', rsa, pkcs1.replaceAll('PRIVATE', 'PUBLIC')),
    form('PKCS#1 encrypted', rsa, rsa.privateKey.export({ type: 'pkcs1', format: 'pem', ...under })),
    form('PKCS#8 encrypted', rsa, rsa.privateKey.export({ type: 'pkcs8', format: 'pem', ...under })),
    pkcs8('DSA', generateKeyPairSync('dsa', { modulusLength: 1024, divisorLength: 160 })),
  ]
  return [
    form('PKCS#1', rsa, pkcs1),
    form('SEC 1', ec, ec.privateKey.export({ type: 'sec1', format: 'pem' })),
    form('SEC 1 on P-521', ec521, ec521.privateKey.export({ type: 'sec1', format: 'pem' })),
    pkcs8('RSA', rsa),
    pkcs8('ECDSA', ec),
    pkcs8('Ed25519', generateKeyPairSync('ed25519')),
    ...refused.map((each) => ({ ...each, isRefused: true })),
  ]
}

const GPG = [
  ['rsa2048', 'rsa2048'],
  ['dsa2048', 'elg2048'],
  ['ed25519', 'cv25519'],
  ['nistp256', 'nistp256'],
  ['nistp521', 'nistp521'],
  ['brainpoolP256r1', 'brainpoolP256r1'],
  ['secp256k1', 'secp256k1'],
] as const

/** Secret keys as gpg exports them: of each algorithm, armored, under a passphrase, or without the primary key. */
export function gpgForms(home: GpgHome): readonly PrivateForm[] {
  const exported = (title: string, email: string, options: readonly string[]): PrivateForm => {
    const bytes = home.run([...options, email])
    return { title, format: 'openpgp', bytes, open: home.run(['--export', email]), write: (changed) => changed }
  }
  const make = (algorithm: string, subkey: string, passphrase: string): string => {
    const email = `${algorithm}-${passphrase.length}@example.com`
    const unlock = ['--passphrase', passphrase]
    const primary = home.generate(email, algorithm, passphrase)
    home.run([...unlock, '--quick-add-key', primary, subkey, 'encr', 'never'])
    const signing = algorithm === 'dsa2048' ? 'ed25519' : algorithm // to find the primes of DSA takes seconds
    home.run([...unlock, '--quick-add-key', primary, `${signing}/sign`, 'sign', 'never'])
    return email
  }
  const forms = GPG.map(([algorithm, subkey]) => {
    return exported(`OpenPGP ${algorithm}`, make(algorithm, subkey, ''), ['--export-secret-keys'])
  })
  const hidden = ['--passphrase', PASSPHRASE, '--export-secret-keys']
  return [
    ...forms,
    ...forms.slice(0, 1).map((form) => ({
      ...form,
      title: `${form.title} armored`,
      write: (bytes: Uint8Array) => pem('PGP PRIVATE KEY BLOCK', bytes).replace('\n', '\n\n'),
    })),
    exported('OpenPGP under a passphrase', make('ed25519', 'cv25519', PASSPHRASE), hidden),
    exported('OpenPGP without its primary key', 'rsa2048-0@example.com', ['--export-secret-subkeys']),
  ]
}

/** Secret keys as openpgp.js writes them: of version 6, and of version 4 with algorithms that gpg does not know. */
export async function openpgpjsForms(): Promise<readonly PrivateForm[]> {
  const userIDs = { name: 'Forge Signer', email: 'forge@example.com' }
  const kinds = [4, 6].flatMap((version) =>
    (['curve25519', 'curve448', 'rsa'] as const).map((type) => ({ version, type })),
  )
  return Promise.all(
    kinds.map(async ({ version, type }) => {
      const options = { type, rsaBits: 2048, userIDs, config: { v6Keys: version === 6 }, format: 'binary' } as const
      const { privateKey, publicKey } = await generateKey(options)
      const [bytes, open] = [Buffer.from(privateKey), Buffer.from(publicKey)]
      return {
        title: `OpenPGP ${type} ${version}`,
        format: 'openpgp',
        bytes,
        open,
        write: (changed) => changed,
      } as const
    }),
  )
}

/** A block of text, which may have headers above a blank line. */
function textForm(title: string, text: string, open: Buffer): PrivateForm {
  const [, begin = '', label = '', headers = '', body = ''] =
    /^(-----BEGIN (.+)-----\n)((?:.+:.*\n)*\n?)([^-]*)/.exec(text) ?? []
  const write = (changed: Uint8Array) => pem(label, changed).replace(begin, begin + headers)
  return { title, format: 'ssh', bytes: Buffer.from(body, 'base64'), write, open }
}
