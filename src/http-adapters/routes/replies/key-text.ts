import type { PublicKey } from '../../../schema/records.ts'
import { hasSeen } from '../entity-tag.ts'
import type { HeaderLine } from '../neutral.ts'
import { notModifiedReply, textReply } from '../reply.ts'
import type { Reply } from '../route.ts'

/** 200 with the key as plain text, or 304 when the client has it. Source: docs/behaviour.md, Signing keys */
export const keyText: Reply<PublicKey> = {
  status: 200,
  description: 'public key',
  write: ({ request }, { text, etag }) => {
    const headers: readonly HeaderLine[] = [['ETag', etag]]
    return hasSeen(request.header('if-none-match'), etag) ? notModifiedReply(headers) : textReply(text, headers)
  },
}
