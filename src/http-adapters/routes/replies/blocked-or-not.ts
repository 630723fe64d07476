import type { Block } from '../../../schema/records.ts'
import { emptyReply, errorReply } from '../reply.ts'
import type { Reply } from '../route.ts'

/** 204 when there is a block; 404 with a JSON body when there is none, which is an answer, not an error. */
export const blockedOrNot: Reply<Block | undefined> = {
  status: 204,
  description: 'the user is blocked',
  headers: [],
  refusals: [{ status: 404, code: 'NOT_BLOCKED' }],
  write: ({ settings: { docsUrl } }, block) =>
    block === undefined ? errorReply('NOT_BLOCKED', 'user is not blocked', { status: 404, docsUrl }) : emptyReply(),
}
