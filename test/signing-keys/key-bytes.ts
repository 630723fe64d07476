import { randomBytes } from 'node:crypto'

/** A DER element. */
export function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents)
  return Buffer.concat([Buffer.of(tag), lengthOf(content.length), content])
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length)
  if (length < 0x100) return Buffer.of(0x81, length)
  return Buffer.of(0x82, length >> 8, length & 0xff)
}

/** A positive DER integer. */
export function integer(bytes: Uint8Array): Buffer {
  return der(0x02, Buffer.of(...((bytes[0] ?? 0) >= 0x80 ? [0] : [])), bytes)
}

/** An odd number that fills its bytes. */
export function oddNumber(bytes: number): Buffer {
  const number = randomBytes(bytes)
  number[0] = (number[0] ?? 0) | 0x80
  number[bytes - 1] = (number[bytes - 1] ?? 0) | 1
  return number
}

/** A PEM block. */
export function pem(label: string, content: Uint8Array): string {
  const lines =
    Buffer.from(content)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n')
}

/** One field of an SSH message. */
export function field(content: string | Uint8Array): Buffer {
  const bytes = Buffer.from(content)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}

/** An OpenSSH private key, of its parts. */
export function openssh(...parts: readonly Uint8Array[]): string {
  return pem('OPENSSH PRIVATE KEY', Buffer.concat([Buffer.from('openssh-key-v1\0'), ...parts]))
}
