import { emptyReply } from '../reply.ts'
import type { Reply } from '../route.ts'

/** 204, whatever came out. */
export const noContent: Reply<unknown> = {
  status: 204,
  description: 'done',
  headers: [],
  write: () => emptyReply(),
}
