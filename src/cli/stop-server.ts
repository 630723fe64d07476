import type { Server } from 'node:http'

/** Milliseconds that requests under way have to finish. */
const GRACE = 5000
const LOOK_EVERY = 25

/** Stops a server: no new connections, idle ones closed, requests under way finished or, after 5 seconds, cut. */
export async function stopServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  const idle = setInterval(() => server.closeIdleConnections(), LOOK_EVERY)
  const cut = setTimeout(() => server.closeAllConnections(), GRACE)
  server.closeIdleConnections()
  try {
    await closed
  } finally {
    clearInterval(idle)
    clearTimeout(cut)
  }
}
