import type { PinKind } from '../../../schema/records.ts'
import { refTo } from '../json-schema.ts'
import { jsonReply, jsonType } from '../reply.ts'
import type { Reply } from '../route.ts'
import { pinsAllowedJson } from '../wire/pins-allowed-json.ts'

/** 200 with two booleans, one per kind. */
export const pinsAllowed: Reply<{ readonly [K in PinKind]: boolean }> = {
  status: 200,
  description: 'whether another issue and another pull request may be pinned',
  body: { type: jsonType, schema: refTo('PinsAllowed') },
  headers: [],
  write: (_exchange, allowed) => jsonReply(pinsAllowedJson(allowed)),
}
