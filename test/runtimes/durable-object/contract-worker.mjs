// A Worker whose Durable Objects run one case each: the published contract of storages, and what is special to an object.
import { DurableObject } from 'cloudflare:workers'
import { createForge } from 'forgelet'
import { durableObjectStorage } from 'forgelet/storage/durable-object'
import { contractCases } from './contract-cases.mjs'
import { objectCases } from './object-cases.mjs'

const CASES = [...contractCases, ...objectCases]

/** One object, with a database of its own that nothing has been written to. */
export class CaseObject extends DurableObject {
  async fetch(request) {
    const index = Number(new URL(request.url).pathname.slice('/case/'.length))
    try {
      await CASES[index].run(this.ctx)
      return Response.json({})
    } catch (error) {
      return Response.json({ failure: error instanceof Error ? error.stack : String(error) })
    }
  }
}

/** An object without SQLite, as they all were once. */
export class PlainObject extends DurableObject {
  async fetch() {
    try {
      await durableObjectStorage(this.ctx.storage).migrate()
      return new Response('migrated')
    } catch (error) {
      return new Response(error.message)
    }
  }
}

/** An object as a host would write it. */
export class KeptObject extends DurableObject {
  constructor(ctx, env) {
    super(ctx, env)
    const storage = durableObjectStorage(ctx.storage)
    const policy = { authorize: () => ({ allow: true }) }
    this.forge = createForge({ storage, policy, membership: { isMember: () => false } })
    ctx.blockConcurrencyWhile(() => storage.migrate())
  }

  async fetch(request) {
    const board = { repositoryId: 1, kind: 'issue' }
    if (request.url.endsWith('/pin')) await this.forge.pins.pin({ id: 1 }, { id: 7, ...board })
    if (request.url.endsWith('/abort')) this.ctx.abort('to start again')
    if (request.url.endsWith('/leave')) this.leaveWriting(board)
    const pins = await this.forge.pins.list({ id: 1 }, board)
    return new Response(pins.map(({ issueId }) => issueId).join())
  }

  leaveWriting(board) {
    const { storage } = this.ctx
    storage.sql.exec('create table label (id integer primary key)')
    this.forge.withTransactionSync(storage, (services) => services.pins.pin({ id: 1 }, { id: 8, ...board }))
    this.left = storage.sql.exec('insert into label values (1), (2) returning id')
    this.left.next()
  }
}

export default {
  async fetch(request, env) {
    const [, what] = new URL(request.url).pathname.split('/')
    if (what === 'plain') return env.PLAIN.get(env.PLAIN.newUniqueId()).fetch(request)
    if (what === 'kept') return env.KEPT.get(env.KEPT.idFromName('kept')).fetch(request)
    if (what === 'case') return env.CASES.get(env.CASES.newUniqueId()).fetch(request)
    return Response.json(CASES.map(({ name }) => name))
  },
}
