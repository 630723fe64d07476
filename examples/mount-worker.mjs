// forgelet in a Cloudflare Worker, without nodejs_compat. A forge that keeps its data has its storage in a Durable
// Object (forgelet/storage/durable-object); this one forgets it with the isolate.
//
//   npx wrangler dev examples/mount-worker.mjs
//   curl -X POST -H 'Authorization: Bearer olga-token' http://127.0.0.1:8787/api/v1/repos/acme/rocket/issues/2/pin
import { ForgeError } from 'forgelet'
import { fetchHandler } from 'forgelet/fetch'
import { api, userOf } from './small-forge.mjs'

const forgelet = fetchHandler(api, {
  basePath: '/api/v1',
  authenticate(request, environment) {
    if (environment.CLOSED) throw new ForgeError('INVALID_CREDENTIALS', 'closed for today')
    return userOf(request.headers.get('authorization'))
  },
})

// biome-ignore lint/style/noDefaultExport: the runtime asks for one
export default {
  async fetch(request, environment, context) {
    return (await forgelet.match(request, environment, context)) ?? new Response('a forge')
  },
}
