// Serves the worlds with node:http, through `nodeHandler`. Prints its port.
import { createServer } from 'node:http'
import { nodeHandler } from 'forgelet/node'
import { authenticate } from '../../world.ts'
import { entries, openReporting, segmentsOf } from './worlds.mjs'

const mounts = new Map()

const server = createServer((request, response) => {
  answer(request, response).catch((error) => {
    process.stderr.write(`${error.stack}\n`)
    response.destroy()
  })
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`))

async function answer(request, response) {
  const [kind, name, rest] = segmentsOf(request.url)
  if (kind === 'entries') return response.end(JSON.stringify(entries()))

  if (!mounts.has(name)) mounts.set(name, mount(name))
  const { handler, reported } = await mounts.get(name)
  if (rest === 'reported') response.end(JSON.stringify(reported))
  else handler(request, response)
}

async function mount(name) {
  const { api, reported } = await openReporting()
  const handler = nodeHandler(api, {
    basePath: `/node/${name}/api`,
    authenticate: ({ headers }) => authenticate(headers.authorization),
  })
  return { handler, reported }
}
