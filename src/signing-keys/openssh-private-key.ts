import { decodeBase64 } from './base64.ts'
import type { KeyBlock } from './key-blocks.ts'
import { sshBlobType } from './ssh-blob.ts'
import { SshFields } from './ssh-fields.ts'
import { writeSshLine } from './ssh-line.ts'
import { unreadableKey } from './unreadable-key.ts'

const MAGIC = 'openssh-key-v1\0'

/**
 * The public line of an OpenSSH private key. The public half stands in the clear before the private part, so no passphrase
 * is needed and every cipher will do; the private part, in which the comment is, is not looked into.
 * Source: OpenSSH's PROTOCOL.key.
 *
 * @throws ForgeError `SIGNING_KEY_UNREADABLE`
 */
export function publicLineOfOpensshKey(block: KeyBlock): string {
  const blob = publicBlob(decodeBase64(block.body.map((line) => line.trim()).join('')))
  const type = blob && sshBlobType(blob)
  if (blob === undefined || type === undefined) {
    throw unreadableKey('the OpenSSH private key is damaged; give its .pub file')
  }

  return writeSshLine(Buffer.from(blob), type)
}

function publicBlob(container: Uint8Array | undefined): Uint8Array | undefined {
  const fields = new SshFields(container ?? new Uint8Array())
  const magic = fields.take(MAGIC.length)
  if (magic === undefined || Buffer.from(magic).toString('latin1') !== MAGIC) return undefined

  const cipher = fields.string()
  const derivation = [fields.string(), fields.string()]
  const keys = fields.uint32()
  const blob = fields.string()
  const privatePart = fields.string()
  const whole = cipher && derivation.every(Boolean) && keys === 1 && privatePart
  return whole ? blob : undefined
}
