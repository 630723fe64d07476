import type { Actor } from '../../../core/ports.ts'
import type { Page } from '../../../schema/paging.ts'
import type { Block } from '../../../schema/records.ts'
import type { Steps } from '../../../schema/steps.ts'
import { run } from '../../../schema/steps.ts'
import type { Exchange } from '../exchange.ts'
import type { NumberedPage } from '../inputs/page-input.ts'
import { listOf } from '../json-schema.ts'
import { linkHeader } from '../link-header.ts'
import type { NeutralReply, NeutralRequest } from '../neutral.ts'
import { jsonReply, jsonType } from '../reply.ts'
import type { Reply } from '../route.ts'
import { counted, countedHeaders } from './counted.ts'
import { presented } from './presented.ts'

/** One page of blocks, and which one it is. */
export interface BlockPage {
  readonly blocks: Page<Block>
  readonly page: NumberedPage
}

/** 200 with one page of the blocked users, and links to the others. */
export const blockPage: Reply<BlockPage> = {
  status: 200,
  description: 'list of users',
  body: { type: jsonType, schema: listOf('User') },
  headers: ['Link', ...countedHeaders],
  write: (exchange, page) => run(writePage(exchange, page)),
}

function* writePage<A extends Actor>(exchange: Exchange<A>, { blocks, page }: BlockPage): Steps<NeutralReply> {
  const { context, request, settings } = exchange
  const ids = blocks.items.map((block) => block.userId)
  const shown = yield* presented(ids, (asked) => settings.present.users(asked, context))

  const users = shown.filter((user) => user !== undefined)
  const link = linkHeader(linkBase(settings.publicUrl, request), request.query, { ...page, total: blocks.total })
  return jsonReply(users, counted(blocks.total, link))
}

/** Without a public address only the request itself is known to be right, whatever prefixes were stripped on the way. */
function linkBase(publicUrl: string | undefined, request: NeutralRequest): string {
  return publicUrl === undefined ? '' : publicUrl + request.path.replace(/\/$/, '')
}
