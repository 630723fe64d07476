import { createServer } from 'node:http'
import connect from 'connect'
import type { Host } from './host.ts'
import { PLAIN, running } from './host.ts'
import { nodeListener, setHostHeaders } from './node-host.ts'

/** Connect, mounted with `app.use`. */
export const connectHost: Host = {
  ...PLAIN,
  name: 'Connect',
  letsPass: true,
  start(mounted, { prefix }) {
    const application = connect()
    application.use((_request, response, next) => {
      setHostHeaders(response)
      next()
    })
    application.use(prefix, (request, response, next) => nodeListener(mounted(), '')(request, response, next))
    application.use((request, response) => response.end(`the host: ${request.originalUrl}`))
    return running(createServer(application))
  },
}
