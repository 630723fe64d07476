// forgelet on Node's own server, beside the host's own pages.
//
//   node examples/mount-node.mjs
//   curl -X POST -H 'Authorization: Bearer olga-token' http://127.0.0.1:3000/api/v1/repos/acme/rocket/issues/2/pin
import { createServer } from 'node:http'
import { nodeHandler } from 'forgelet/node'
import { api, userOf } from './small-forge.mjs'

const forgelet = nodeHandler(api, {
  basePath: '/api/v1',
  authenticate: (request) => userOf(request.headers.authorization),
})

const server = createServer((request, response) =>
  // What is not forgelet's comes back here.
  forgelet(request, response, () => {
    response.statusCode = request.url === '/' ? 200 : 404
    response.end(response.statusCode === 200 ? 'a forge' : 'not found')
  }),
)
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/`)
})
