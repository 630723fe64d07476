import { splitKeyText } from './key-blocks.ts'
import { isOpenpgpBlock, requireOneKey } from './key-format.ts'
import { MAX_SSH_KEY_BYTES } from './key-material.ts'
import { publicLineOfOpensshKey } from './openssh-private-key.ts'
import { publicLineOfPem } from './pem-key.ts'
import { looksLikeSshLine, readSshLine } from './ssh-line.ts'
import { unreadableKey } from './unreadable-key.ts'

const TOO_LARGE_FOR_SSH = 'an SSH or PEM key may have at most 64 KiB; give a file that holds one key and nothing else'

/**
 * The public line of an SSH key text of any kind: a public line, an OpenSSH private key, or PEM; at most 64 KiB.
 *
 * @throws ForgeError `SIGNING_KEY_UNREADABLE`
 */
export function sshPublicLine(text: string): string {
  if (Buffer.byteLength(text) > MAX_SSH_KEY_BYTES) throw unreadableKey(TOO_LARGE_FOR_SSH)

  const parts = splitKeyText(text)
  requireOneKey(parts)
  const [block] = parts.blocks
  if (block === undefined) return readOnlyLine(parts.outside)
  if (isOpenpgpBlock(block)) throw unreadableKey('it is an OpenPGP key, not an SSH key')

  return block.label === 'OPENSSH PRIVATE KEY' ? publicLineOfOpensshKey(block) : publicLineOfPem(block)
}

function readOnlyLine(lines: readonly string[]): string {
  const [line, ...others] = lines
  if (line === undefined || others.length > 0 || !looksLikeSshLine(line)) {
    throw unreadableKey('there are other lines beside the SSH public key; give the public line alone')
  }

  return readSshLine(line)
}
