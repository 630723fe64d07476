import type { Key } from 'openpgp'
import type { Steps } from '../schema/steps.ts'
import { wait } from '../schema/steps.ts'
import type { KeyBlock } from './key-blocks.ts'
import { splitKeyText } from './key-blocks.ts'
import { isOpenpgpBlock, requireOneKey } from './key-format.ts'
import type { KeyMaterial } from './key-material.ts'
import { readArmor } from './openpgp-armor.ts'
import { isPublicPacket, PACKET, splitPackets } from './openpgp-packets.ts'
import { unreadableKey } from './unreadable-key.ts'

const PUBLIC_LABEL = 'PGP PUBLIC KEY BLOCK'

type Openpgp = typeof import('openpgp')

/**
 * The armored public half of an OpenPGP key. Armor that holds nothing but one public key is given back as it is, without
 * the text around it; every other form is armored anew.
 *
 * @throws ForgeError `SIGNING_KEY_UNREADABLE`
 */
export function* openpgpPublicText(material: KeyMaterial): Steps<string> {
  const block = material.kind === 'text' ? openpgpBlock(material.text) : undefined
  const armor = block && readArmor(block)
  const bytes = armor?.bytes ?? (material.kind === 'binary' ? material.bytes : new Uint8Array())
  requireOnePrimaryKey(bytes)

  const openpgp = yield* wait(import('openpgp'))
  const key = yield* wait(parse(openpgp, bytes))
  if (!isPublicOnly(bytes, key)) return armorPublic(openpgp, key.toPublic().write())
  if (block?.label === PUBLIC_LABEL && armor?.isPlain === true) return asItIs(block)
  return armorPublic(openpgp, bytes)
}

function openpgpBlock(text: string): KeyBlock {
  const parts = splitKeyText(text)
  requireOneKey(parts)
  const [block] = parts.blocks
  if (block === undefined || !isOpenpgpBlock(block)) throw unreadableKey('it is an SSH key, not an OpenPGP key')

  return block
}

function requireOnePrimaryKey(bytes: Uint8Array): void {
  const primary = splitPackets(bytes).filter(({ tag }) => tag === PACKET.publicKey || tag === PACKET.secretKey)
  if (primary.length === 0) throw unreadableKey('there is no OpenPGP key in it; export one with gpg --export --armor')
  if (primary.length > 1) throw unreadableKey('it holds more than one OpenPGP key; export the signing key alone')
}

async function parse(openpgp: Openpgp, bytes: Uint8Array): Promise<Key> {
  const key = await openpgp.readKey({ binaryKey: bytes }).catch((cause: unknown) => {
    throw unreadableKey('the OpenPGP key is damaged or of an unknown kind; export its public half again', cause)
  })
  if (key.users.length === 0) throw unreadableKey('the OpenPGP key has no user id; export it again')

  return key
}

/** Every packet is of a public type, and no key packet holds more than the public fields that were understood. */
function isPublicOnly(bytes: Uint8Array, key: Key): boolean {
  const understood = new Set(key.getKeys().map((each) => Buffer.from(each.keyPacket.write()).toString('hex')))
  return splitPackets(bytes).every((packet) => {
    const isKey = packet.tag === PACKET.publicKey || packet.tag === PACKET.publicSubkey
    return isPublicPacket(packet) && (!isKey || understood.has(Buffer.from(packet.body).toString('hex')))
  })
}

function armorPublic(openpgp: Openpgp, bytes: Uint8Array): string {
  if (!splitPackets(bytes).every(isPublicPacket)) throw unreadableKey('its public half cannot be told apart')

  const text = openpgp.armor(openpgp.enums.armor.publicKey, bytes, undefined, undefined, undefined, true)
  return `${text.replaceAll('\r', '').trimEnd()}\n`
}

function asItIs(block: KeyBlock): string {
  return [`-----BEGIN ${block.label}-----`, ...block.body, `-----END ${block.label}-----`, ''].join('\n')
}
