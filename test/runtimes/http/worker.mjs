// Serves the worlds on workerd, without any compatibility flag for Node: in memory, and in Durable Objects that hold a forge
// each, with its API and its handler.

import { DurableObject } from 'cloudflare:workers'
import { durableObjectStorage } from 'forgelet/storage/durable-object'
import { segmentsOf, worldListener } from './worlds.mjs'

const inMemory = worldListener({ memory: () => undefined })

/** One world. */
export class WorldObject extends DurableObject {
  #listener

  constructor(ctx, env) {
    super(ctx, env)
    const storage = durableObjectStorage(ctx.storage)
    this.#listener = worldListener({ 'durable-object': () => storage })
    ctx.blockConcurrencyWhile(() => storage.migrate())
  }

  fetch(request) {
    return this.#listener(request)
  }
}

export default {
  fetch(request, env) {
    const [kind, name] = segmentsOf(request.url)
    if (kind !== 'durable-object') return inMemory(request)
    return env.WORLDS.get(env.WORLDS.idFromName(name)).fetch(request)
  },
}
