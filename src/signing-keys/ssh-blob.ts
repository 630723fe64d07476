import { SshFields } from './ssh-fields.ts'

type Check = (fields: SshFields) => boolean

const text: Check = (fields) => fields.string() !== undefined
const uint32: Check = (fields) => fields.take(4) !== undefined
const uint64: Check = (fields) => fields.take(8) !== undefined
const octets = (length: number): Check => {
  return (fields) => fields.string()?.length === length
}
const word = (expected: string): Check => {
  return (fields) => fields.name() === expected
}
/** A positive integer of 16,384 bits at most, the bound of OpenSSH. */
const integer: Check = (fields) => {
  const bytes = fields.string()
  return bytes !== undefined && bytes.length > 0 && bytes.length <= 2049 && (bytes[0] ?? 0x80) < 0x80
}
/** An uncompressed point on a curve (RFC 5656, section 3.1). */
const point = (length: number): Check => {
  return (fields) => {
    const bytes = fields.string()
    return bytes?.length === length && bytes[0] === 0x04
  }
}

const PLAIN: readonly (readonly [type: string, fields: readonly Check[]])[] = [
  ['ssh-ed25519', [octets(32)]],
  ['ssh-rsa', [integer, integer]],
  ['ssh-dss', [integer, integer, integer, integer]],
  ['ecdsa-sha2-nistp256', [word('nistp256'), point(65)]],
  ['ecdsa-sha2-nistp384', [word('nistp384'), point(97)]],
  ['ecdsa-sha2-nistp521', [word('nistp521'), point(133)]],
  ['sk-ssh-ed25519@openssh.com', [octets(32), text]],
  ['sk-ecdsa-sha2-nistp256@openssh.com', [word('nistp256'), point(65), text]],
]

/** Serial, kind, key id, principals, valid after and before, critical options, extensions, reserved, authority, signature. */
const CERTIFICATE: readonly Check[] = [uint64, uint32, text, text, uint64, uint64, text, text, text, text, text]

const LAYOUTS: ReadonlyMap<string, readonly Check[]> = new Map([
  ...PLAIN,
  ...PLAIN.map(([type, fields]) => [certificateOf(type), [text, ...fields, ...CERTIFICATE]] as const),
])

function certificateOf(type: string): string {
  return `${type.replace('@openssh.com', '')}-cert-v01@openssh.com`
}

/** Whether a word names a type of SSH public key: plain, on a security key (`sk-…`), or a certificate (`…-cert-v01@openssh.com`). */
export function isSshKeyType(type: string): boolean {
  return LAYOUTS.has(type)
}

/**
 * The type of an SSH public key in its binary form, or undefined when the bytes are not exactly one public key of a known
 * type: a byte too few or too many, and so anything private, is refused.
 * Source: RFC 4253, section 6.6; RFC 5656; RFC 8709; OpenSSH's PROTOCOL.u2f and PROTOCOL.certkeys.
 */
export function sshBlobType(blob: Uint8Array): string | undefined {
  const fields = new SshFields(blob)
  const type = fields.name() ?? ''
  const layout = LAYOUTS.get(type)
  const fits = layout?.every((check) => check(fields)) === true && fields.done
  return fits ? type : undefined
}
