import { createHash, generateKeyPairSync, sign } from 'node:crypto'

/** What may be unusual about a signature. */
interface SignatureOptions {
  /** Subpackets that it does not cover. */
  readonly loose?: Uint8Array
  /** The fingerprint of the key that it says it is by. */
  readonly issuer?: Uint8Array
  /** In place of a valid signature. */
  readonly numbers?: Uint8Array
  /** Seconds since 1970. */
  readonly createdAt?: number
}

/** Makes OpenPGP keys and signatures of version 4 on Ed25519, also wrong ones that no program would write. */
export class OpenpgpMaker {
  readonly #pair = generateKeyPairSync('ed25519')
  readonly userId: Buffer = Buffer.from('Forge Signer <forge@example.com>')
  /** The body of the public packet. */
  readonly body: Buffer
  /** The same as signatures cover it. */
  readonly signed: Buffer
  readonly fingerprint: Buffer

  /** @param body - the public packet of another key, for which it can make no valid signature */
  constructor(body?: Buffer) {
    const { x = '' } = this.#pair.publicKey.export({ format: 'jwk' })
    this.body = body ?? Buffer.concat([Buffer.of(4, 0x60, 0, 0, 0, 27), Buffer.from(x, 'base64url')])
    this.signed = this.prefixed(this.body)
    this.fingerprint = createHash('sha1').update(this.signed).digest()
  }

  /** The private half, of 32 bytes. */
  get seed(): Buffer {
    return Buffer.from(this.#pair.privateKey.export({ format: 'jwk' }).d ?? '', 'base64url')
  }

  /** A whole public key in binary form. */
  key(...parts: readonly Uint8Array[]): Buffer {
    return Buffer.concat([packet(6, this.body), packet(13, this.userId), this.certification(), ...parts])
  }

  /** A key packet as signatures cover it. */
  prefixed(body: Uint8Array): Buffer {
    return Buffer.concat([Buffer.of(0x99, body.length >> 8, body.length & 0xff), body])
  }

  /** A signature packet over the user id. */
  certification(options: SignatureOptions & { readonly type?: number; readonly userId?: Uint8Array } = {}): Buffer {
    const { type = 0x13, userId = this.userId } = options
    return packet(2, this.signature(type, [this.signed, Buffer.of(0xb4), uint32(userId.length), userId], options))
  }

  /** The body of a signature packet. */
  signature(type: number, data: readonly Uint8Array[], options: SignatureOptions = {}): Buffer {
    const { loose = new Uint8Array(), issuer = this.fingerprint, createdAt = 0x60000000 } = options
    const hashed = Buffer.concat([Buffer.of(5, 2), uint32(createdAt), Buffer.of(22, 33, 4), issuer])
    const covered = Buffer.concat([Buffer.of(4, type, this.body[5] ?? 0, 8, 0, hashed.length), hashed])
    const trailer = Buffer.concat([Buffer.of(4, 0xff), uint32(covered.length)])
    const digest = createHash('sha256')
      .update(Buffer.concat([...data, covered, trailer]))
      .digest()
    const numbers = options.numbers ?? sign(null, digest, this.#pair.privateKey)
    const size = Buffer.of(loose.length >> 8, loose.length & 0xff)
    return Buffer.concat([covered, size, loose, digest.subarray(0, 2), numbers])
  }
}

/** An OpenPGP integer that fills its bytes. */
export function openpgpNumber(bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.of((8 * bytes.length) >> 8, (8 * bytes.length) & 0xff), bytes])
}

/** A packet with a header of the new form. */
export function packet(tag: number, body: Uint8Array): Buffer {
  return Buffer.concat([Buffer.of(0xc0 | tag, 0xff), uint32(body.length), body])
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
