// Serves the worlds with Deno.serve, in memory. Prints its port.
import { worldListener } from './worlds.mjs'

const listener = worldListener({ memory: () => undefined })

Deno.serve(
  {
    hostname: '127.0.0.1',
    port: 0,
    onListen: ({ port }) => Deno.stdout.writeSync(new TextEncoder().encode(`${port}\n`)),
  },
  (request) => listener(request),
)
