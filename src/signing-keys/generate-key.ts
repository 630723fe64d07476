import { isObject, need } from '../schema/arguments.ts'
import { refuseUnknown } from '../schema/options.ts'
import type { SigningKeyFormat } from '../schema/records.ts'

/**
 * Generates a signing key without a passphrase: OpenPGP version 4 with Ed25519, which GnuPG 2.2 supports, or SSH
 * Ed25519 in the OpenSSH format. The name and email address become the OpenPGP user id, or the comment of the SSH key.
 * Keep the private key in a file that only its owner may read.
 *
 * @throws TypeError when the format is unknown, or when the name or email is empty or contains line breaks, `<` or `>`
 */
export async function generateKey(options: {
  readonly format: SigningKeyFormat
  readonly name: string
  readonly email: string
}): Promise<{ readonly privateKey: string; readonly publicKey: string }> {
  need(isObject(options), 'generateKey', 'options', 'an object with format, name and email')
  refuseUnknown('generateKey', options, { format: true, name: true, email: true })
  const name = identityPart(options.name, 'name')
  const email = identityPart(options.email, 'email')
  if (!/^[^@\s]+@[^@\s]+$/.test(email)) throw new TypeError('generateKey needs an email address like forge@example.com')

  switch (options.format) {
    case 'openpgp':
      return generateOpenpgpKey(name, email)
    case 'ssh':
      return generateSshKey(`${name} <${email}>`)
    default:
      throw new TypeError(
        `generateKey supports the formats openpgp and ssh, not ${String(options.format satisfies never)}`,
      )
  }
}

interface KeyPair {
  readonly privateKey: string
  readonly publicKey: string
}

async function generateOpenpgpKey(name: string, email: string): Promise<KeyPair> {
  const { generateKey: generate } = await import('openpgp')
  const { privateKey, publicKey } = await generate({ userIDs: { name, email } })
  return { privateKey, publicKey }
}

async function generateSshKey(comment: string): Promise<KeyPair> {
  const { default: sshpk } = await import('sshpk')
  const key = sshpk.generatePrivateKey('ed25519')
  key.comment = comment
  return { privateKey: key.toString('openssh'), publicKey: `${key.toPublic().toString('ssh').trim()}\n` }
}

function identityPart(value: string, name: string): string {
  if (typeof value !== 'string' || value.trim() === '' || /[\p{Cc}<>]/u.test(value)) {
    throw new TypeError(`generateKey needs ${name} as a string without line breaks, < or >`)
  }

  return value.trim()
}
