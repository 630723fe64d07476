import type { Steps } from '../schema/steps.ts'
import { wait } from '../schema/steps.ts'
import type { KeyBlock } from './key-blocks.ts'
import { readSshLine } from './ssh-line.ts'
import { unreadableKey } from './unreadable-key.ts'

const LABELS = new Set([
  'PRIVATE KEY',
  'RSA PRIVATE KEY',
  'EC PRIVATE KEY',
  'DSA PRIVATE KEY',
  'PUBLIC KEY',
  'RSA PUBLIC KEY',
])

/**
 * The SSH public line of a PEM block: PKCS#1, SEC 1, PKCS#8 or a subject's public key. It has no comment: PEM has none.
 *
 * @throws ForgeError `SIGNING_KEY_UNREADABLE`, also for an encrypted key, whose public half is hidden
 */
export function* publicLineOfPem(block: KeyBlock): Steps<string> {
  if (isEncrypted(block)) {
    throw unreadableKey('it is a PEM private key under a passphrase, which hides its public half; give its .pub file')
  }
  if (!LABELS.has(block.label)) throw unreadableKey('it is not a kind of key that SSH knows; give a .pub file')

  const { default: sshpk } = yield* wait(import('sshpk'))
  return readSshLine(convert(sshpk, block))
}

function isEncrypted(block: KeyBlock): boolean {
  return block.label === 'ENCRYPTED PRIVATE KEY' || block.body.some((line) => /^Proc-Type:.*ENCRYPTED/.test(line))
}

function convert(sshpk: typeof import('sshpk'), block: KeyBlock): string {
  const pem = [`-----BEGIN ${block.label}-----`, ...block.body, `-----END ${block.label}-----`, ''].join('\n')
  try {
    const isPrivate = block.label.endsWith('PRIVATE KEY')
    const key = isPrivate ? sshpk.parsePrivateKey(pem, 'pem').toPublic() : sshpk.parseKey(pem, 'pem')
    key.comment = '' // else the name of a file that there is none of
    return key.toString('ssh')
  } catch (cause) {
    throw unreadableKey('the PEM key is damaged or of a kind that SSH does not know; give its .pub file', cause)
  }
}
