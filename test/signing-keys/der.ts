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
