import { sameBytes } from './byte-reader.ts'
import type { KeyBlock } from './key-blocks.ts'
import { splitKeyText } from './key-blocks.ts'
import { isOpenpgpBlock, requireOneKey } from './key-format.ts'
import type { KeyMaterial } from './key-material.ts'
import { readArmor, writePublicArmor } from './openpgp-armor.ts'
import type { OpenpgpPacket } from './openpgp-packets.ts'
import { joinPackets, PACKET, splitPackets } from './openpgp-packets.ts'
import { publicKeyPackets } from './openpgp-public-key.ts'
import { unreadableKey } from './unreadable-key.ts'

const PUBLIC_LABEL = 'PGP PUBLIC KEY BLOCK'

/**
 * The armored public half of an OpenPGP key: what the key itself has signed. Armor that holds nothing but that is given as
 * it is, without the text around it; every other form is armored again.
 *
 * @throws ForgeError `SIGNING_KEY_UNREADABLE`
 */
export async function openpgpPublicText(material: KeyMaterial): Promise<string> {
  const block = material.kind === 'text' ? openpgpBlock(material.text) : undefined
  const armor = block && readArmor(block)
  const bytes = armor?.bytes ?? (material.kind === 'binary' ? material.bytes : new Uint8Array())
  const packets = splitPackets(bytes)
  requireOnePrimaryKey(packets)

  const published = await publicKeyPackets(packets)
  const isWhole = block?.label === PUBLIC_LABEL && armor?.isPlain === true && areSame(packets, published)
  return isWhole ? asItIs(block) : writePublicArmor(joinPackets(published))
}

function openpgpBlock(text: string): KeyBlock {
  const parts = splitKeyText(text)
  requireOneKey(parts)
  const [block] = parts.blocks
  if (block === undefined || !isOpenpgpBlock(block)) throw unreadableKey('it is an SSH key, not an OpenPGP key')

  return block
}

function requireOnePrimaryKey(packets: readonly OpenpgpPacket[]): void {
  const primary = packets.filter(({ tag }) => tag === PACKET.publicKey || tag === PACKET.secretKey)
  if (primary.length === 0) throw unreadableKey('there is no OpenPGP key in it; export one with gpg --export --armor')
  if (primary.length > 1) throw unreadableKey('it holds more than one OpenPGP key; export the signing key alone')
}

function areSame(packets: readonly OpenpgpPacket[], others: readonly OpenpgpPacket[]): boolean {
  if (packets.length !== others.length) return false

  return packets.every(({ tag, body }, index) => others[index]?.tag === tag && sameBytes(others[index]?.body, body))
}

function asItIs(block: KeyBlock): string {
  return [`-----BEGIN ${block.label}-----`, ...block.body, `-----END ${block.label}-----`, ''].join('\n')
}
