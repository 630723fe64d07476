import type { Grant } from '../../../schema/records.ts'
import { listOf } from '../json-schema.ts'
import { jsonReply, jsonType } from '../reply.ts'
import type { Reply } from '../route.ts'
import { badgeJson } from '../wire/badge-json.ts'
import { counted, countedHeaders } from './counted.ts'

/** 200 with the badges of a user, oldest grant first. */
export const badgeList: Reply<readonly Grant[]> = {
  status: 200,
  description: 'list of badges',
  body: { type: jsonType, schema: listOf('Badge') },
  headers: countedHeaders,
  write: (_exchange, grants) =>
    jsonReply(
      grants.map((grant) => badgeJson(grant.badge)),
      counted(grants.length),
    ),
}
