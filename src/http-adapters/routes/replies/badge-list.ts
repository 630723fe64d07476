import type { Grant } from '../../../schema/records.ts'
import { jsonReply } from '../reply.ts'
import type { Reply } from '../route.ts'
import { badgeJson } from '../wire/badge-json.ts'
import { counted } from './counted.ts'

/** 200 with the badges of a user, oldest grant first. */
export const badgeList: Reply<readonly Grant[]> = {
  status: 200,
  description: 'list of badges',
  write: (_exchange, grants) =>
    jsonReply(
      grants.map((grant) => badgeJson(grant.badge)),
      counted(grants.length),
    ),
}
