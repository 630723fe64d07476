import type { AnyPacket, Key } from 'openpgp'
import * as openpgp from 'openpgp'
import type { PublicKey } from '../schema/records.ts'
import type { KeyDescription } from './published-key.ts'
import { toPublicKey } from './published-key.ts'
import { damagedKey, isPrimary, isUnknown, signedPart } from './signed-part.ts'

/**
 * Returns the armored public half of an OpenPGP key: what `gpg --import` keeps of it. The primary key has signed all of it,
 * so no private byte is published, under whichever label it is.
 *
 * @throws ForgeError `SIGNING_KEY_UNREADABLE`
 */
export async function publish(content: string | Uint8Array): Promise<PublicKey> {
  const packets = await signedPart(await packetsIn(content))
  const key = keyOf(packets)
  return toPublicKey('openpgp', armored(packets), {
    expiresAt: await expiryOf(key),
    isRevoked: isRevoked(key, packets),
  })
}

/** Describes the first key of a public armor. */
export async function describe(text: string): Promise<KeyDescription> {
  const packets = await packetsIn(text)
  const second = packets.findIndex((packet, at) => at > 0 && isPrimary(packet))
  const first = await signedPart(second < 0 ? packets : packets.slice(0, second))
  const key = keyOf(first)
  return {
    format: 'openpgp',
    ...algorithmOf(key),
    fingerprint: key.getFingerprint().toUpperCase(),
    userIds: key.getUserIDs(),
    created: key.keyPacket.getCreationTime(),
    expires: await expiryOf(key),
    isRevoked: isRevoked(key, first),
  }
}

/**
 * Returns whether a key is revoked: by itself, or by a designated revoker, whose signature openpgp.js does not verify. A key that
 * does not sign is also revoked if every subkey that signs is.
 */
function isRevoked({ revocationSignatures, subkeys, users }: Key, packets: readonly AnyPacket[]): boolean {
  if (revocationSignatures.length > 0) return true
  const others = packets.some((each) => isUnknown(each, openpgp.enums.packet.publicSubkey))
  if (others || maySign(users.flatMap(({ selfCertifications }) => selfCertifications))) return false
  const signers = subkeys.filter(({ bindingSignatures }) => maySign(bindingSignatures))
  return signers.length > 0 && signers.every((signer) => signer.revocationSignatures.length > 0)
}

/** Returns whether signatures say that their key signs, or do not say what it does. */
function maySign(signatures: readonly openpgp.SignaturePacket[]): boolean {
  const flags = signatures.flatMap(({ keyFlags }) => keyFlags?.[0] ?? [])
  return flags.length === 0 || flags.some((each) => (each & openpgp.enums.keyFlags.signData) !== 0)
}

/** openpgp.js says `rsaEncryptSign` with bits, `ecdsa` with a curve such as `nistP256`, and `ed25519` as algorithm or curve. */
function algorithmOf(key: Key): { readonly algorithm: string; readonly bits: number } {
  const { algorithm, curve = algorithm, bits } = key.getAlgorithmInfo()
  const [edwards] = /ed25519|ed448/.exec(curve) ?? []
  if (edwards !== undefined) return { algorithm: edwards, bits: edwards === 'ed448' ? 456 : 256 }
  return { algorithm: /^[a-z]+/.exec(algorithm)?.[0] ?? algorithm, bits: bits ?? Number(/\d+/.exec(curve)) }
}

/**
 * Joins public armors to one block, in their order. But GnuPG stops at a key of version 6, and loses that right before it: keys
 * that it does not read are last, and the key before them is there twice.
 */
export async function joinArmors(armors: readonly string[]): Promise<string> {
  const keys = await Promise.all(armors.map(packetsIn))
  const known = keys.filter((key) => key.every(isReadByGpg))
  const others = keys.filter((key) => !known.includes(key))
  return armored([...known, ...(others.length > 0 ? known.slice(-1) : []), ...others].flat())
}

/** Every packet of a key, also of a kind that is not known. @throws ForgeError `SIGNING_KEY_UNREADABLE` */
async function packetsIn(content: string | Uint8Array): Promise<readonly AnyPacket[]> {
  const { PublicKeyPacket, PublicSubkeyPacket, SecretKeyPacket, SecretSubkeyPacket } = openpgp
  const keys = [PublicKeyPacket, PublicSubkeyPacket, SecretKeyPacket, SecretSubkeyPacket]
  const additionalAllowedPackets = [...keys, openpgp.SignaturePacket, openpgp.UserIDPacket, openpgp.UserAttributePacket]
  const config = { ...openpgp.config, additionalAllowedPackets, ignoreMalformedPackets: true }
  try {
    const bytes = typeof content === 'string' ? (await openpgp.unarmor(content)).data : content
    return [...(await openpgp.PacketList.fromBinary(bytes, new Map(), config))]
  } catch {
    throw damagedKey() // the error may quote the key
  }
}

function listOf(packets: readonly AnyPacket[]): openpgp.PacketList<AnyPacket> {
  const list = new openpgp.PacketList<AnyPacket>()
  list.push(...packets)
  return list
}

/** Signatures that were verified are not verified again. */
function keyOf(packets: readonly AnyPacket[]): Key {
  return new openpgp.PublicKey(listOf(packets))
}

function armored(packets: readonly AnyPacket[]): string {
  // A key of version 4 has a checksum: GnuPG 2.2 does not read all without.
  const [type, hasChecksum] = [
    openpgp.enums.armor.publicKey,
    packets[0] instanceof openpgp.PublicKeyPacket && packets[0].version === 4,
  ]
  return openpgp.armor(type, listOf(packets).write(), undefined, undefined, undefined, hasChecksum).replaceAll('\r', '')
}

/** When the primary key expires, or the key that signs, if that is earlier. */
async function expiryOf(key: Key): Promise<Date | undefined> {
  const signer = await key.getSigningKey(undefined, null).catch(() => key)
  const times = await Promise.all([key.getExpirationTime(), signer.getExpirationTime()])
  const [first] = times.flatMap((time) => (time instanceof Date ? time.getTime() : [])).sort((a, b) => a - b)
  return first === undefined ? undefined : new Date(first)
}

/** The newest algorithm that GnuPG reads in a key of version 4 is EdDSA. */
function isReadByGpg(packet: AnyPacket): boolean {
  if (!(packet instanceof openpgp.PublicKeyPacket)) return !isUnknown(packet, openpgp.enums.packet.publicSubkey)
  return packet.version === 4 && packet.algorithm <= openpgp.enums.publicKey.eddsaLegacy
}
