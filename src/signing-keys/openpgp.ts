import type { AnyKeyPacket, AnyPacket, Key } from 'openpgp'
import * as openpgp from 'openpgp'
import type { PublicKey } from '../schema/records.ts'
import { unreadableKey } from './key-text.ts'
import type { KeyDescription } from './published-key.ts'
import { toPublicKey } from './published-key.ts'

/**
 * Returns the armored public half of an OpenPGP key. openpgp.js separates the halves. What is published of a private key
 * was verified: damage that puts private bytes where public ones belong breaks the signatures.
 *
 * @throws ForgeError `SIGNING_KEY_UNREADABLE`
 */
export async function publish(content: string | Uint8Array): Promise<PublicKey> {
  const [found, ...others] = await keysIn(content)
  if (others.length > 0) throw unreadableKey('it contains more than one OpenPGP key; export only the signing key')

  const isPrivate = found.isPrivate() || (typeof content === 'string' && content.startsWith('-----BEGIN PGP PRIVATE'))
  const key = isPrivate ? await signedPart(found.toPublic()) : found
  if (key.users.length === 0) {
    throw unreadableKey('no user id of the OpenPGP key can be verified; give its public half (gpg --export --armor)')
  }
  const validity = { expiresAt: await expiryOf(key), isRevoked: await key.isRevoked() }
  return toPublicKey('openpgp', key.armor().replaceAll('\r', ''), validity)
}

/** Describes the first key of a public armor. */
export async function describe(armored: string): Promise<KeyDescription> {
  const [key] = await keysIn(armored)
  return {
    format: 'openpgp',
    ...algorithmOf(key),
    fingerprint: key.getFingerprint().toUpperCase(),
    userIds: key.getUserIDs(),
    created: key.keyPacket.getCreationTime(),
    expires: await expiryOf(key),
    isRevoked: await key.isRevoked(),
  }
}

/** openpgp.js says `rsaEncryptSign` with bits, `ecdsa` with a curve such as `nistP256`, and `ed25519` as algorithm or curve. */
function algorithmOf(key: Key): { readonly algorithm: string; readonly bits: number } {
  const { algorithm, curve = algorithm, bits } = key.getAlgorithmInfo()
  const [edwards] = /ed25519|ed448/.exec(curve) ?? []
  if (edwards !== undefined) return { algorithm: edwards, bits: edwards === 'ed448' ? 456 : 256 }
  return { algorithm: /^[a-z]+/.exec(algorithm)?.[0] ?? algorithm, bits: bits ?? Number(/\d+/.exec(curve)) }
}

/** Joins public armors to one block, in their order. */
export async function joinArmors(armors: readonly string[]): Promise<string> {
  const keys = await Promise.all(armors.map(keysIn))
  const bytes = Uint8Array.from(keys.flat().flatMap((key) => [...key.write()]))
  const text = openpgp.armor(openpgp.enums.armor.publicKey, bytes, undefined, undefined, undefined, true)
  return text.replaceAll('\r', '')
}

async function keysIn(content: string | Uint8Array): Promise<readonly [Key, ...Key[]]> {
  const isText = typeof content === 'string'
  const reading = isText ? openpgp.readKeys({ armoredKeys: content }) : openpgp.readKeys({ binaryKeys: content })
  const [first, ...others] = await reading.catch(() => []) // the error may quote the key
  if (first !== undefined) return [first, ...others]
  throw unreadableKey('the OpenPGP key is damaged or cut off; export it again with gpg --export --armor')
}

/** When the primary key expires, or the key that signs, if that is earlier. */
async function expiryOf(key: Key): Promise<Date | undefined> {
  const signer = await key.getSigningKey(undefined, null).catch(() => key)
  const times = await Promise.all([key.getExpirationTime(), signer.getExpirationTime()])
  const [first] = times.flatMap((time) => (time instanceof Date ? time.getTime() : [])).sort((a, b) => a - b)
  return first === undefined ? undefined : new Date(first)
}

/** Leaves out what the primary key has not signed: damaged parts, and signatures of other keys. */
async function signedPart(whole: Key): Promise<Key> {
  const key = whole.keyPacket
  const kept = new openpgp.PacketList<AnyPacket>()
  kept.push(key)
  let about: Signed = { key }
  let unsigned: readonly AnyPacket[] = [] // a user id or a subkey, until its first signature
  for (const packet of [...whole.toPacketList()].slice(1)) {
    if (!(packet instanceof openpgp.SignaturePacket)) {
      unsigned = [packet]
      if (packet instanceof openpgp.UserIDPacket) about = { key, userID: packet }
      else if (packet instanceof openpgp.UserAttributePacket) about = { key, userAttribute: packet }
      else about = { key, bind: packet }
    } else if (await isSigned(packet, about, key)) {
      kept.push(...unsigned, packet)
      unsigned = []
    }
  }
  return new openpgp.PublicKey(kept)
}

/** What a signature is about: the primary key, alone or with a user id, an attribute or a subkey. */
interface Signed {
  readonly key: AnyKeyPacket
  readonly userID?: AnyPacket
  readonly userAttribute?: AnyPacket
  readonly bind?: AnyKeyPacket
}

/** Types of subpackets. Source: RFC 9580, section 5.2.3.7 */
const [ISSUER, EMBEDDED_SIGNATURE] = [16, 32]

/**
 * Returns whether a signature is whole. No signature covers its own unhashed area: what gpg needs of it is made again, the
 * signer and a subkey's confirmation, and the rest left out.
 */
async function isSigned(signature: openpgp.SignaturePacket, about: Signed, signer: AnyKeyPacket): Promise<boolean> {
  const { created, embeddedSignature: inner, signatureType } = signature
  if (signatureType === null) return false
  // As of its own time, so that what has expired is served with its expiry.
  const isWhole = await signature.verify(signer, signatureType, about, created ?? undefined).then(
    () => true,
    () => false,
  )
  if (!isWhole) return false

  const isConfirmed = inner !== null && about.bind !== undefined && (await isSigned(inner, about, about.bind))
  const issuer = Uint8Array.from(Buffer.from(signer.getKeyID().toHex(), 'hex'))
  signature.unhashedSubpackets = signature.unhashedSubpackets.flatMap((subpacket) => {
    if (subpacket.type === ISSUER) return [{ ...subpacket, body: issuer }]
    return isConfirmed && subpacket.type === EMBEDDED_SIGNATURE ? [{ ...subpacket, body: inner.write() }] : []
  })
  return true
}
