import type { AnyKeyPacket, Key, PublicKey, SignaturePacket } from 'openpgp'
import { unreadableKey } from './key-text.ts'
import type { KeyDescription, PublishedText } from './published-key.ts'

type Openpgp = typeof import('openpgp')

/**
 * Returns the armored public half of an OpenPGP key. openpgp.js separates the halves. What is published of a private key
 * was verified: damage that puts private bytes where public ones belong breaks the signatures.
 *
 * @throws ForgeError `SIGNING_KEY_UNREADABLE`
 */
export async function publishOpenpgp(content: string | Uint8Array): Promise<PublishedText> {
  const openpgp = await import('openpgp') // only hosts with an OpenPGP key load it
  const [found, ...others] = await keysIn(openpgp, content)
  if (found === undefined) {
    throw unreadableKey('the OpenPGP key is damaged or cut off; export it again with gpg --export --armor')
  }
  if (others.length > 0) throw unreadableKey('it contains more than one OpenPGP key; export only the signing key')

  const key = found.toPublic()
  const isPrivate = found.isPrivate() || (typeof content === 'string' && content.startsWith('-----BEGIN PGP PRIVATE'))
  if (isPrivate) await keepVerified(openpgp, key)
  if (key.users.length === 0) {
    throw unreadableKey('no user id of the OpenPGP key can be verified; give its public half (gpg --export --armor)')
  }
  return { text: key.armor().replaceAll('\r', ''), expiresAt: await expiryOf(key) }
}

/** Describes the first key of a public armor. */
export async function describeOpenpgp(armored: string): Promise<KeyDescription> {
  const [key] = await keysIn(await import('openpgp'), armored)
  if (key === undefined) throw unreadableKey('the OpenPGP key is damaged or cut off')

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
  const openpgp = await import('openpgp')
  const keys = await Promise.all(armors.map((armored) => keysIn(openpgp, armored)))
  const bytes = Uint8Array.from(keys.flat().flatMap((key) => [...key.write()]))
  const text = openpgp.armor(openpgp.enums.armor.publicKey, bytes, undefined, undefined, undefined, true)
  return text.replaceAll('\r', '')
}

async function keysIn({ readKeys }: Openpgp, content: string | Uint8Array): Promise<readonly Key[]> {
  const reading = typeof content === 'string' ? readKeys({ armoredKeys: content }) : readKeys({ binaryKeys: content })
  return reading.catch(() => []) // the error may quote the key
}

/** When the primary key expires, or the key that signs, if that is earlier. */
async function expiryOf(key: Key): Promise<Date | undefined> {
  const signer = await key.getSigningKey(undefined, null).catch(() => key)
  const times = await Promise.all([key.getExpirationTime(), signer.getExpirationTime()])
  const [first] = times.flatMap((time) => (time instanceof Date ? time.getTime() : [])).sort((a, b) => a - b)
  return first === undefined ? undefined : new Date(first)
}

/** What a signature is about: the primary key, and a user id or a subkey. */
interface Signed {
  readonly key: AnyKeyPacket
  readonly bind?: AnyKeyPacket
}

/** Leaves out what the primary key has not signed: damaged parts, and signatures of other keys. */
async function keepVerified(openpgp: Openpgp, key: PublicKey): Promise<void> {
  const { signature: types } = openpgp.enums
  const signed = { key: key.keyPacket }
  const keep = (signatures: readonly SignaturePacket[], type: number, about: object): Promise<SignaturePacket[]> =>
    verified(openpgp, signatures, type, { ...signed, ...about }, key.keyPacket)
  for (const user of key.users) {
    const { userID, userAttribute } = user
    user.selfCertifications = await keep(user.selfCertifications, types.certGeneric, { userID, userAttribute })
    user.revocationSignatures = await keep(user.revocationSignatures, types.certRevocation, { userID, userAttribute })
    user.otherCertifications = []
  }
  for (const subkey of key.subkeys) {
    const bind = { bind: subkey.keyPacket }
    subkey.bindingSignatures = await keep(subkey.bindingSignatures, types.subkeyBinding, bind)
    subkey.revocationSignatures = await keep(subkey.revocationSignatures, types.subkeyRevocation, bind)
  }
  key.users = key.users.filter((user) => user.selfCertifications.length > 0)
  key.subkeys = key.subkeys.filter((subkey) => subkey.bindingSignatures.length > 0)
  key.revocationSignatures = await keep(key.revocationSignatures, types.keyRevocation, {})
  if (hasDirectSignatures(key)) key.directSignatures = await keep(key.directSignatures, types.key, {})
}

/** Those of version 6 have the properties of the key. The types of openpgp.js do not name them. */
function hasDirectSignatures(key: object): key is { directSignatures: SignaturePacket[] } {
  return 'directSignatures' in key && Array.isArray(key.directSignatures)
}

async function verified(
  openpgp: Openpgp,
  signatures: readonly SignaturePacket[],
  type: number,
  signed: Signed,
  signer: AnyKeyPacket,
): Promise<SignaturePacket[]> {
  const kept: SignaturePacket[] = []
  for (const signature of signatures) {
    // As of its own time, so that what has expired is served with its expiry.
    const checking = signature.verify(signer, type, signed, signature.created ?? undefined, false)
    const isWhole = await checking.then(
      () => true,
      () => false,
    )
    if (!isWhole) continue
    await replaceUncovered(openpgp, signature, signed, signer)
    kept.push(signature)
  }
  return kept
}

/** Types of subpackets. Source: RFC 9580, section 5.2.3.7 */
const [ISSUER, EMBEDDED_SIGNATURE] = [16, 32]

/** No signature covers its own unhashed area. What gpg needs of it is made again: the signer, and a subkey's confirmation. */
async function replaceUncovered(
  openpgp: Openpgp,
  signature: SignaturePacket,
  signed: Signed,
  signer: AnyKeyPacket,
): Promise<void> {
  const { keyBinding } = openpgp.enums.signature
  const { embeddedSignature: inner } = signature
  const [confirmation] =
    inner === null || signed.bind === undefined ? [] : await verified(openpgp, [inner], keyBinding, signed, signed.bind)
  const issuer = Uint8Array.from(Buffer.from(signer.getKeyID().toHex(), 'hex'))
  signature.unhashedSubpackets = signature.unhashedSubpackets.flatMap((subpacket) => {
    if (subpacket.type === ISSUER) return [{ ...subpacket, body: issuer }]
    const isConfirmation = subpacket.type === EMBEDDED_SIGNATURE && confirmation !== undefined
    return isConfirmation ? [{ ...subpacket, body: confirmation.write() }] : []
  })
}
