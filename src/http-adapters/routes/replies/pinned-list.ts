import type { Actor } from '../../../core/ports.ts'
import type { Pin, PinKind } from '../../../schema/records.ts'
import type { Steps } from '../../../schema/steps.ts'
import { run } from '../../../schema/steps.ts'
import type { Exchange } from '../exchange.ts'
import { listOf } from '../json-schema.ts'
import type { NeutralReply } from '../neutral.ts'
import { jsonReply, jsonType } from '../reply.ts'
import type { Reply } from '../route.ts'
import { pinnedJson } from '../wire/pinned-json.ts'
import { counted, countedHeaders } from './counted.ts'
import { presented } from './presented.ts'

/** 200 with the pinned issues or pull requests, in order of position. */
export function pinnedList(kind: PinKind): Reply<readonly Pin[]> {
  return {
    status: 200,
    description: kind === 'issue' ? 'list of issues' : 'list of pull requests',
    body: { type: jsonType, schema: listOf(kind === 'issue' ? 'Issue' : 'PullRequest') },
    headers: countedHeaders,
    write: (exchange, pins) => run(writePinned(exchange, kind, pins)),
  }
}

function* writePinned<A extends Actor>(
  { settings, context }: Exchange<A>,
  kind: PinKind,
  pins: readonly Pin[],
): Steps<NeutralReply> {
  const ids = pins.map((pin) => pin.issueId)
  const { present } = settings
  const shown = yield* presented(ids, (asked) =>
    kind === 'issue' ? present.issues(asked, context) : present.pullRequests(asked, context),
  )

  const list = pinnedJson(pins, shown)
  return jsonReply(list, counted(list.length))
}
