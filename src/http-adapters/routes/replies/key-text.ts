import type { PublicKey } from '../../../schema/records.ts'
import { hasSeen } from '../entity-tag.ts'
import type { HeaderLine } from '../neutral.ts'
import { notModifiedReply, textReply, textType } from '../reply.ts'
import type { Reply } from '../route.ts'

/** 200 with the key as plain text, or 304 when the client has it. Source: docs/behaviour.md, Signing keys */
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
      description: 'the `ETag` of a text that the client has already',
    },
  ],
  others: [{ status: 304, description: 'the client has the key already', headers: ['ETag'] }],
  write: ({ request }, { text, etag }) => {
    const headers: readonly HeaderLine[] = [['ETag', etag]]
    return hasSeen(request.header('if-none-match'), etag) ? notModifiedReply(headers) : textReply(text, headers)
  },
}
