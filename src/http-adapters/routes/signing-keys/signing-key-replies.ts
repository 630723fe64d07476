import type { PublicKey } from '../../../schema/records.ts'
import type { HeaderLine } from '../messages.ts'
import { notModifiedReply, textReply, textType } from '../reply.ts'
import type { Reply } from '../route.ts'

/** 200 with the key as plain text, or 304 if the client already has it. Source: docs/behaviour.md, Signing keys */
export const keyText: Reply<PublicKey> = {
  status: 200,
  description: 'public key',
  body: { type: textType, schema: { type: 'string', minLength: 1 } },
  headers: ['ETag'],
  parameters: [
    {
      name: 'If-None-Match',
      in: 'header',
      schema: { type: 'string' },
      description: 'the `ETag` of a text that the client already has',
    },
  ],
  others: [{ status: 304, description: 'the client already has the key', headers: ['ETag'] }],
  write: ({ request }, { text, etag }) => {
    const headers: readonly HeaderLine[] = [['ETag', etag]]
    return hasSeen(request.header('if-none-match'), etag) ? notModifiedReply(headers) : textReply(text, headers)
  },
}

const TAGS = /(?:W\/)?("[^"]*")/g

/**
 * Whether a client that sent this `If-None-Match` already has the text. The comparison is weak: it ignores `W/`.
 * Source: RFC 9110, section 13.1.2
 *
 * @param header - one tag, several, or `*`; undefined if it was not sent
 * @param etag - the tag of the text, in quotes
 */
function hasSeen(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  if (header.trim() === '*') return true

  const tag = etag.replace(/^W\//, '')
  return [...header.matchAll(TAGS)].some((match) => match[1] === tag)
}
