import { checkOptions } from '../schema/options.ts'
import type { SigningKeyFormat } from '../schema/records.ts'

const matches = (form: RegExp) => (value: unknown) => typeof value === 'string' && form.test(value)

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
  checkOptions<typeof options>('generateKey', options, {
    format: [matches(/^(?:openpgp|ssh)$/), "'openpgp' or 'ssh'"],
    name: [matches(/^(?!\s*$)[^\p{Cc}<>]+$/u), 'a text without line breaks, < or >'],
    email: [matches(/^[^\p{Cc}\s<>@]+@[^\p{Cc}\s<>@]+$/u), 'an address like forge@example.com'],
  })
  const { format, name, email } = options
  if (format === 'openpgp') {
    const openpgp = await import('openpgp')
    const { privateKey, publicKey } = await openpgp.generateKey({ userIDs: { name, email } })
    return { privateKey, publicKey }
  }
  const { default: sshpk } = await import('sshpk')
  const key = sshpk.generatePrivateKey('ed25519')
  key.comment = `${name} <${email}>`
  return { privateKey: key.toString('openssh'), publicKey: `${key.toPublic().toString('ssh').trim()}\n` }
}
