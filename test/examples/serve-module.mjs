// Serves an example that is a module: a Worker, whose default export has `fetch`, or route handlers, one named after each method.
import { serve } from '@hono/node-server'

const { default: worker, ...handlers } = await import(process.argv[2])
const fetch = worker === undefined ? answer : (request) => worker.fetch(request, {}, {})

function answer(request) {
  const handle = handlers[request.method]
  return handle === undefined ? new Response(null, { status: 405 }) : handle(request, {})
}

serve({ fetch, port: Number(process.env.PORT), hostname: '127.0.0.1' }, ({ port }) => {
  process.stdout.write(`http://127.0.0.1:${port}/\n`)
})
