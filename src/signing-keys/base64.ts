const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/** Decodes base64 (RFC 4648, section 4) strictly: undefined when a character or the padding is wrong. */
export function decodeBase64(text: string): Buffer | undefined {
  if (text.length % 4 !== 0 || !BASE64.test(text)) return undefined

  return Buffer.from(text, 'base64')
}
