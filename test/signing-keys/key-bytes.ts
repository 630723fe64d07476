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

/** What OpenPGP keys are made of. */
export interface KeyPacket {
  readonly tag: number
  readonly body: Buffer
}

/** Takes an OpenPGP key apart, in headers of both forms. */
export function packetsOf(key: Uint8Array): readonly KeyPacket[] {
  const bytes = Buffer.from(key)
  const packets: KeyPacket[] = []
  for (let at = 0; at < bytes.length; ) {
    const [head = 0, first = 0, second = 0] = bytes.subarray(at)
    const isNew = (head & 0x40) !== 0
    const width = isNew ? [1, 2, 5][Number(first >= 192) + Number(first === 255)] : 1 << (head & 3)
    if (width === undefined) throw new Error('a packet has no length')
    const start = at + 1 + width
    const lengths: Readonly<Record<number, number>> = { 1: first, 2: (first - 192) * 256 + second + 192 }
    const length =
      isNew && width < 5 ? lengths[width] : bytes.readUIntBE(start - Math.min(width, 4), Math.min(width, 4))
    packets.push({ tag: isNew ? head & 63 : (head & 63) >> 2, body: bytes.subarray(start, start + (length ?? 0)) })
    at = start + (length ?? 0)
  }
  return packets
}

/** An OpenPGP packet, with a length of four bytes. Tags from 16 need the new form. */
export function packet({ tag, body }: KeyPacket, isNew = true): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(body.length)
  const head = isNew || tag > 15 ? Buffer.of(0xc0 + tag, 0xff) : Buffer.of(0x82 + (tag << 2))
  return Buffer.concat([head, length, body])
}

/** A key of gpg 2.4.9: Ed25519 that certifies, with subkeys of version 5, Ed448 that signs and X448 that encrypts. */
export const VERSION_5: Buffer = Buffer.from(
  'mDMEawnszxYJKwYBBAHaRw8BAQdA4/Q+oxhwOA+DR4v8gLD4q0KnKOv+LYIwCeNnbjjwG7u0GUZvcmdlIDxmb3JnZUBleGFtcGxlLmNvbT6IkAQT' +
    'FgoAOBYhBNkqzWbg9z4YsWlUW50vkeEDPc6BBQJrCezPAhsBBQsJCAcCBhUKCQgLAgQWAgMBAh4BAheAAAoJEJ0vkeEDPc6BixYA/RBHjjXVY7U2' +
    'trFlEEEvoHTEVUQg/QbkKAVZpuDKu2yXAQDZwMjN44n8gBuDLZAxOI3M9J/CCv0wCmPO7HTceddqCrhJBWsJ7M8WAAAAPwMrZXEBxRV5NjH2IHcE' +
    'xdIR6B0JxndEf3ulutHfZW2St8YKMhF9cWmPjrCK5Tr3RdG3hF88VR8X/hoe7QktgIkBIwQYFgoAIBYhBNkqzWbg9z4YsWlUW50vkeEDPc6BBQJr' +
    'CezPAhsCALUJEJ0vkeEDPc6BqiAFGRYKACkiIQXGzThBorP3ia5yrBOSYDBsE+UVZSWfDvzLcpiMkvK+tgUCawnszwAAu+MByNEweBPymFrng4tN' +
    'co9t1Rf6gbn2B/I5JFzBipA3+FwqPDZx5beCc9K6yyFbo6fbhwdWEEaWkT74AAHHc3+us1aqn3nZ55SURLO7GR+KNXIENy6pinkxqVPH4PY2zTC5' +
    'WPjghx7kQvVFn7rUCJe1vPmaJAkAblgBAK8lIgbKggzMwEsWLd7G7pqXFYE6UmbUQqxekv8misYeAQDJuxdLsQeed51dv3vvlKeJDcqrr4Ohpuvt' +
    'eDmkQEfoCrhMBWsJ7M8SAAAAQgMrZW8Bv2k7F673qDV/ByVEsuM+ZqtIj+Q/sy0x5x60v372Lax5fTToQHuIV6lsCyRsJvQTnQ2bj6VN0SXOAwEK' +
    'CYh4BBgWCgAgFiEE2SrNZuD3PhixaVRbnS+R4QM9zoEFAmsJ7M8CGwwACgkQnS+R4QM9zoFEQAEA+jnPhGxBOiG1E5jKdvHjNU7wPQH/plmy/b6G' +
    'zE3gUVMA/0nysFAAqk0s2M8RlFGjQFCG7xjf1wsM5uibdNaLlsQO',
  'base64',
)
