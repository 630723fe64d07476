import { setImmediate } from 'node:timers/promises'
import type { AnyKeyPacket, AnyPacket } from 'openpgp'
import * as openpgp from 'openpgp'
import { unreadableKey } from './key-text.ts'

/** A subkey of a kind that is not known. */
class UnknownSubkey {
  readonly #body: Buffer

  constructor(packet: openpgp.UnparseablePacket) {
    this.#body = Buffer.from(packet.write())
  }

  /** Source: RFC 9580, section 5.2.4 */
  writeForHash(): Uint8Array {
    const version = this.#body.readUInt8(0)
    const head = Buffer.alloc(version > 4 ? 5 : 3, 0x95 + version)
    head.writeUIntBE(this.#body.length, 1, head.length - 1)
    return Buffer.concat([head, this.#body])
  }

  /** Returns whether a signature may be that of the subkey, which says that it belongs to the key: by its form alone. */
  mayHaveSigned([version, type, algorithm]: Buffer): boolean {
    return version === this.#body[0] && type === keyBinding && algorithm === this.#body[5]
  }
}

/** What a signature is about: the primary key, alone or with a user id, an attribute or a subkey. */
interface About {
  readonly key: AnyKeyPacket
  readonly userID?: AnyPacket
  readonly userAttribute?: AnyPacket
  readonly bind?: openpgp.PublicSubkeyPacket | UnknownSubkey
}

const { publicKey, secretKey, publicSubkey, secretSubkey, signature: SIGNATURE } = openpgp.enums.packet
const { key: DIRECT, keyRevocation: REVOCATION, subkeyBinding, keyBinding } = openpgp.enums.signature
const KIND = 'of a kind that is not supported'

/**
 * Leaves out what the primary key has not signed, or for its owner alone. Signatures by other keys are kept in a public file:
 * of them, the forms are checked alone.
 */
export async function signedPart(packets: readonly AnyPacket[]): Promise<readonly AnyPacket[]> {
  const [first, ...others] = packets
  if (isUnknown(first, publicKey, secretKey)) throw unreadableKey(`the OpenPGP key is ${KIND}; sign with another key`)
  if (!(first instanceof openpgp.PublicKeyPacket) || !isPrimary(first)) throw damagedKey()
  if (others.some(isPrimary)) throw unreadableKey('it contains more than one OpenPGP key; export only the signing key')
  const key = await publicHalf(first, new openpgp.PublicKeyPacket())
  const isPrivate = packets.some((each) => each instanceof openpgp.SecretKeyPacket || isUnknown(each, secretSubkey))
  const kept: AnyPacket[] = [key]
  let about: About = { key }
  let unsigned: AnyPacket[] = [] // a user id or a subkey, until its first signature
  for (const packet of others) {
    await setImmediate() // other requests
    const next = await aboutOf(packet, key)
    if (next !== undefined) {
      about = next
      unsigned = [next.bind instanceof openpgp.PublicSubkeyPacket ? next.bind : packet]
      continue
    }
    const signature = about.bind instanceof UnknownSubkey ? withoutUnhashed(packet, about.bind) : packet
    if (!(signature instanceof openpgp.SignaturePacket) || signature.exportable === false) continue

    const isDirect = signature.signatureType === DIRECT || signature.signatureType === REVOCATION
    const isOwn = await isSigned(signature, isDirect ? { key } : about, key)
    const isByOther = !isOwn && mayBeByOther(signature, isDirect ? { key } : about, others)
    if (isOwn && !isDirect) kept.push(...unsigned.splice(0))
    if (isOwn || (isByOther && !isPrivate)) {
      const list = isDirect || unsigned.length === 0 ? kept : unsigned
      list.push(packet)
    } else if (isPrivate && (maySign(signature, about) || (isByOther && isDirect))) {
      throw unreadableKey(`a subkey that signs, or a revocation, is ${KIND}; give the public half (gpg --export)`)
    }
  }
  const isUser = (each: AnyPacket) =>
    each instanceof openpgp.UserIDPacket || each instanceof openpgp.UserAttributePacket
  if (kept.some(isUser)) return kept
  throw unreadableKey('no user id of the OpenPGP key has a valid signature by the key, and gpg takes no other; add one')
}

async function aboutOf(packet: AnyPacket, key: AnyKeyPacket): Promise<About | undefined> {
  if (packet instanceof openpgp.UserIDPacket) return { key, userID: packet }
  if (packet instanceof openpgp.UserAttributePacket) return { key, userAttribute: packet }
  if (isUnknown(packet, publicSubkey, secretSubkey)) {
    packet.tag = publicSubkey
    return { key, bind: new UnknownSubkey(packet) }
  }
  if (!(packet instanceof openpgp.PublicKeyPacket)) return undefined
  return { key, bind: await publicHalf(packet, new openpgp.PublicSubkeyPacket()) }
}

export function isUnknown(
  packet: AnyPacket | undefined,
  ...tags: readonly number[]
): packet is openpgp.UnparseablePacket {
  return packet instanceof openpgp.UnparseablePacket && tags.includes(packet.tag)
}

export function isPrimary(packet: AnyPacket): boolean {
  if (packet instanceof openpgp.PublicSubkeyPacket || packet instanceof openpgp.SecretSubkeyPacket) return false
  return packet instanceof openpgp.PublicKeyPacket || isUnknown(packet, publicKey, secretKey)
}

/** A private key begins with its public half. */
async function publicHalf<K extends openpgp.PublicKeyPacket | openpgp.PublicSubkeyPacket>(
  whole: AnyKeyPacket,
  half: K,
) {
  await half.read(whole.write())
  return half
}

/**
 * Reads what a signature about an unknown subkey covers: the rest may be unknown, too. Of the rest, the packet keeps the signer
 * and what the subkey may have signed.
 */
function withoutUnhashed(packet: AnyPacket, subkey: UnknownSubkey): openpgp.SignaturePacket | undefined {
  if (!(packet instanceof openpgp.SignaturePacket) && !isUnknown(packet, SIGNATURE)) return undefined
  const [body, signature] = [Buffer.from(packet.write()), new openpgp.SignaturePacket()]
  const size = Buffer.alloc(body[0] === 6 ? 4 : 2)
  const kept: Buffer[] = []
  try {
    const middle = 4 + size.length + body.readUIntBE(4, size.length)
    const end = middle + size.length + body.readUIntBE(middle, size.length)
    signature.read(Buffer.concat([body.subarray(0, middle), size, body.subarray(end)]))
    for (let at = middle + size.length; at < end; ) {
      const start = at
      const first = body.readUInt8(at)
      at += first < 192 ? 1 + first : 2 + body.readUInt16BE(at) - 0xbf40 // whose lengths are 192 to 16319
      const content = body.subarray(start + (first < 192 ? 1 : 2), at)
      const isConfirmation = content[0] === EMBEDDED_SIGNATURE && subkey.mayHaveSigned(content.subarray(1))
      if (at > end) return undefined
      if (isConfirmation || (content[0] === ISSUER && content.length === 9)) kept.push(body.subarray(start, at))
    }
    const area = Buffer.concat(kept)
    size.writeUIntBE(area.length, 0, size.length)
    const whole = Buffer.concat([body.subarray(0, middle), size, area, body.subarray(end)])
    packet.write = () => whole
    return signature
  } catch {
    return undefined
  }
}

/** Returns whether a signature says that a subkey of an unknown kind signs, or does not say it. */
function maySign({ signatureType, keyFlags }: openpgp.SignaturePacket, { bind }: About): boolean {
  if (!(bind instanceof UnknownSubkey) || signatureType !== subkeyBinding) return false
  return keyFlags === null || ((keyFlags[0] ?? 0) & openpgp.enums.keyFlags.signData) !== 0
}

/** Types of subpackets. Source: RFC 9580, section 5.2.3.7 */
const [ISSUER, EMBEDDED_SIGNATURE] = [16, 32]

/** Returns whether another key may have signed a user id, or revoked the key as a designated revoker. */
function mayBeByOther(signature: openpgp.SignaturePacket, about: About, packets: readonly AnyPacket[]): boolean {
  const { unhashedSubpackets, issuerKeyID, signatureType } = signature
  signature.unhashedSubpackets = unhashedSubpackets.filter(({ type, body }) => type === ISSUER && body.length === 8)
  if (issuerKeyID.equals(about.key.getKeyID())) return false
  if (signatureType !== REVOCATION) return (about.userID ?? about.userAttribute) !== undefined
  const revokers = packets.map((each) => each instanceof openpgp.SignaturePacket && each.revocationKeyFingerprint)
  return revokers.some((revoker) => revoker && Buffer.from(revoker).toString('hex').endsWith(issuerKeyID.toHex()))
}

/**
 * Returns whether a signature is whole. No signature covers its own unhashed area: what gpg needs of it is made again, the
 * signer and a subkey's confirmation, and the rest left out.
 */
async function isSigned(signature: openpgp.SignaturePacket, about: About, signer: AnyKeyPacket): Promise<boolean> {
  if (!(await isVerified(signature, about, signer))) return false

  const { embeddedSignature: inner, unhashedSubpackets } = signature
  const { bind } = about
  const isConfirmed =
    inner !== null && bind instanceof openpgp.PublicSubkeyPacket && (await isSigned(inner, about, bind))
  const issuer = Uint8Array.from(Buffer.from(signer.getKeyID().toHex(), 'hex'))
  signature.unhashedSubpackets = unhashedSubpackets.flatMap((subpacket) => {
    if (subpacket.type === ISSUER) return [{ ...subpacket, body: issuer }]
    return isConfirmed && subpacket.type === EMBEDDED_SIGNATURE ? [{ ...subpacket, body: inner.write() }] : []
  })
  return true
}

/** Of DSA with 3072 bits, which is the most that gpg makes, a key has 1,200 bytes. More takes openpgp.js minutes. */
const MAX_DSA_BYTES = 2048

async function isVerified(signature: openpgp.SignaturePacket, about: About, signer: AnyKeyPacket): Promise<boolean> {
  const { created, signatureType: type } = signature
  const { curve = '' } = signer.getAlgorithmInfo()
  try {
    if (type === null || (signer.algorithm === openpgp.enums.publicKey.dsa && signer.write().length > MAX_DSA_BYTES)) {
      return false
    }
    signature.revocationKeyClass = null // openpgp.js would refuse it
    // openpgp.js computes by itself when it is given the hash alone. With Node, it cannot verify these curves otherwise.
    if (/brainpool|secp/.test(curve) && 'hash' in signature && signature.hash instanceof Function) {
      Object.assign(signature, { hashed: await signature.hash(type, about) })
    }
    // As of its own time, so that what has expired is served with its expiry.
    await signature.verify(signer, type, about, created ?? undefined)
    return true
  } catch {
    return false
  }
}

export function damagedKey(): Error {
  return unreadableKey('the OpenPGP key is damaged or cut off; export it again with gpg --export --armor')
}
