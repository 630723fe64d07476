import { unreadableKey } from './key-text.ts'
import type { OpenpgpKeyPacket } from './openpgp-key-packet.ts'
import { readKeyPacket } from './openpgp-key-packet.ts'
import type { OpenpgpPacket } from './openpgp-packets.ts'
import { isPublicPacket, PACKET } from './openpgp-packets.ts'
import type { OpenpgpSignature, Subpacket } from './openpgp-signature.ts'
import { isSignedBy, readSignature, SUBPACKET, writeSignature } from './openpgp-signature.ts'

/**
 * The maximum number of signatures to verify: a key with thirty user ids, renewed every year for thirty years, has 900.
 */
const MAX_CHECKS = 1000
/** The maximum number of user ids and subkeys. */
const MAX_PARTS = 1000

/** Signature types (RFC 9580, section 5.2.1). */
const TYPE = {
  certifications: [0x10, 0x11, 0x12, 0x13],
  subkeyBinding: 0x18,
  primaryKeyBinding: 0x19,
  directKey: 0x1f,
  keyRevocation: 0x20,
  subkeyRevocation: 0x28,
  certificationRevocation: 0x30,
} as const

type Kind = 'primary' | 'user' | 'subkey'

const TYPES: Readonly<Record<Kind, readonly number[]>> = {
  primary: [TYPE.directKey, TYPE.keyRevocation],
  user: [...TYPE.certifications, TYPE.certificationRevocation],
  subkey: [TYPE.subkeyBinding, TYPE.subkeyRevocation],
}

/** A part of a key, and the signatures that follow it. */
interface Part {
  readonly kind: Kind
  readonly packet: OpenpgpPacket
  /** The packet in the form that signatures cover. */
  readonly signed: Uint8Array
  readonly key: OpenpgpKeyPacket | undefined
  readonly signatures: OpenpgpSignature[]
}

/**
 * Returns the packets of the public key, from those of a public or a secret key. The result contains only what the key
 * itself has signed. It leaves out parts without a valid signature by the primary key, revoked user ids, and packets of
 * unknown types. Signatures by other keys cannot be verified; they are kept only if every packet is public.
 *
 * @throws ForgeError `SIGNING_KEY_UNREADABLE` when no user id is left, or there is too much to verify
 */
export async function publicKeyPackets(packets: readonly OpenpgpPacket[]): Promise<readonly OpenpgpPacket[]> {
  const { parts, isPublic } = readParts(packets)
  const [primary, ...others] = parts
  if (primary?.key === undefined) {
    throw unreadableKey('the OpenPGP key is damaged or of an unknown kind; export its public half again')
  }

  const check = new SelfSignatures(primary.key, isPublic)
  const kept = [...(await check.keep(primary))]
  let users = 0
  for (const part of others) {
    const packetsOfPart = await check.keep(part)
    kept.push(...packetsOfPart)
    if (part.packet.tag === PACKET.userId && packetsOfPart.length > 0) users += 1
  }
  if (users === 0) {
    throw unreadableKey('the OpenPGP key has no user id that it has signed itself and not revoked; export it again')
  }

  return kept
}

function readParts(packets: readonly OpenpgpPacket[]): { readonly parts: readonly Part[]; readonly isPublic: boolean } {
  const parts: Part[] = []
  let isPublic = packets.every(isPublicPacket)
  let current: Part | undefined
  for (const packet of packets) {
    if (packet.tag === PACKET.signature) {
      const signature = readSignature(packet.body)
      if (signature === undefined) isPublic = false
      else current?.signatures.push(signature)
      continue
    }

    if (packet.tag === PACKET.trust || packet.tag === PACKET.marker) continue // may follow a part
    if (parts.length === MAX_PARTS) throw tooMany('user ids and subkeys')
    current = readPart(packet, parts.length === 0)
    if (current === undefined || current.key?.isPublic === false) isPublic = false
    if (current !== undefined) parts.push(current)
  }
  return { parts, isPublic }
}

/** Reads a part, or returns `undefined` if the packet is not needed. The first part must be the primary key. */
function readPart(packet: OpenpgpPacket, isFirst: boolean): Part | undefined {
  const { tag, body } = packet
  const isPrimary = tag === PACKET.publicKey || tag === PACKET.secretKey
  if (isPrimary !== isFirst) return undefined
  if (tag === PACKET.userId || tag === PACKET.userAttribute) {
    const signed = Buffer.concat([Buffer.of(tag === PACKET.userId ? 0xb4 : 0xd1, 0, 0, 0, 0), body])
    signed.writeUInt32BE(body.length, 1)
    return { kind: 'user', packet, signed, key: undefined, signatures: [] }
  }
  if (!isPrimary && tag !== PACKET.publicSubkey && tag !== PACKET.secretSubkey) return undefined

  const key = readKeyPacket(body)
  const open = { tag: isPrimary ? PACKET.publicKey : PACKET.publicSubkey, body: key?.body ?? body }
  return key && { kind: isPrimary ? 'primary' : 'subkey', packet: open, signed: key.signed, key, signatures: [] }
}

/** Verifies the signatures of a primary key on its own parts. */
class SelfSignatures {
  readonly #primary: OpenpgpKeyPacket
  readonly #keepsOthers: boolean
  #checks = 0

  constructor(primary: OpenpgpKeyPacket, keepsOthers: boolean) {
    this.#primary = primary
    this.#keepsOthers = keepsOthers
  }

  /** Returns the packets of a part that may be published, or none if the key has not confirmed the part. */
  async keep(part: Part): Promise<readonly OpenpgpPacket[]> {
    const own: OpenpgpSignature[] = []
    const kept: OpenpgpPacket[] = []
    for (const signature of part.signatures) {
      if (!TYPES[part.kind].includes(signature.type)) continue
      if (await this.#isOwn(signature, part)) {
        own.push(signature)
        kept.push(asPacket(signature, await this.#boundIn(signature, part)))
      } else if (this.#keepsOthers && part.kind !== 'subkey' && !this.#claims(signature)) {
        kept.push(asPacket(signature, signature.loose.filter(isIssuer)))
      }
    }

    return isConfirmed(part.kind, own) ? [part.packet, ...kept] : []
  }

  #claims({ issuers }: OpenpgpSignature): boolean {
    return issuers.length === 0 || issuers.some((issuer) => this.#primary.names.includes(issuer))
  }

  async #isOwn(signature: OpenpgpSignature, part: Part): Promise<boolean> {
    if (!this.#claims(signature)) return false

    this.#count()
    const data = part.kind === 'primary' ? [part.signed] : [this.#primary.signed, part.signed]
    return isSignedBy(signature, this.#primary, data)
  }

  /**
   * Selects the unhashed subpackets that are authenticated in another way: the name of the key, and the confirmation by
   * a subkey.
   */
  async #boundIn({ type, loose }: OpenpgpSignature, part: Part): Promise<readonly Subpacket[]> {
    const bound: Subpacket[] = []
    for (const subpacket of loose) {
      const isBack = type === TYPE.subkeyBinding && (await this.#isBack(subpacket, part.key))
      if (isBack || isIssuedBy(subpacket, this.#primary)) bound.push(subpacket)
    }
    return bound
  }

  /** Whether a subpacket is exactly the signature with which a subkey confirms its primary key. */
  async #isBack({ type, data }: Subpacket, subkey: OpenpgpKeyPacket | undefined): Promise<boolean> {
    const signature = type === SUBPACKET.embedded ? readSignature(data) : undefined
    if (subkey === undefined || signature?.type !== TYPE.primaryKeyBinding) return false
    if (!signature.loose.every((each) => isIssuedBy(each, subkey))) return false

    this.#count()
    return isSignedBy(signature, subkey, [this.#primary.signed, subkey.signed])
  }

  #count(): void {
    this.#checks += 1
    if (this.#checks > MAX_CHECKS) throw tooMany('signatures by itself')
  }
}

/**
 * Whether a part belongs to the key: the key has bound the subkey, or its latest signature on the user id is not a
 * revocation.
 */
function isConfirmed(kind: Kind, own: readonly OpenpgpSignature[]): boolean {
  if (kind === 'primary') return true
  if (kind === 'subkey') return own.some(({ type }) => type === TYPE.subkeyBinding)

  const last = Math.max(...own.map(({ createdAt }) => createdAt))
  const lastTypes = own.filter(({ createdAt }) => createdAt === last).map(({ type }) => type)
  return lastTypes.length > 0 && !lastTypes.includes(TYPE.certificationRevocation)
}

function isIssuer({ issuer }: Subpacket): boolean {
  return issuer !== undefined
}

function isIssuedBy({ issuer }: Subpacket, key: OpenpgpKeyPacket): boolean {
  return issuer !== undefined && key.names.includes(issuer)
}

function asPacket(signature: OpenpgpSignature, loose: readonly Subpacket[]): OpenpgpPacket {
  return { tag: PACKET.signature, body: writeSignature(signature, loose) }
}

function tooMany(what: string): Error {
  return unreadableKey(`the OpenPGP key has more than 1,000 ${what}; export it with --export-options export-minimal`)
}
