import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import express5 from 'express'
import express4 from 'express4'
import { expressHandler } from '../../../src/http-adapters/express.ts'
import type { Host, Parser } from './host.ts'
import { PLAIN, running } from './host.ts'
import { setHostHeaders } from './node-host.ts'

interface ExpressRequest extends IncomingMessage {
  readonly originalUrl: string
  body: unknown
}

type Handle = (request: ExpressRequest, response: ServerResponse, next: () => void) => unknown

/** What Express 4 and 5 have in common, as far as it is used here. */
interface Application {
  (request: IncomingMessage, response: ServerResponse): unknown
  use(path: string, ...handles: Handle[]): unknown
}

interface Parsers {
  json(): Handle
  raw(options: { readonly type: () => boolean }): Handle
  urlencoded(options: { readonly extended: boolean }): Handle
}

/** Express 4 and 5, mounted with `app.use`. */
export const expressHosts: readonly Host[] = [host('Express 4', express4), host('Express 5', express5)]

function host(name: string, express: Parsers & (() => Application)): Host {
  return {
    ...PLAIN,
    name,
    hasParsers: true,
    mergesSlashes: name === 'Express 4',
    letsPass: true,
    start(mounted, { prefix, before, behind }) {
      const application = express()
      application.use('/', (_request, response, next) => {
        setHostHeaders(response)
        next()
      })
      if (before !== undefined) application.use('/', parser(express, before))
      application.use(prefix === '' ? '/' : prefix, (request, response, next) => {
        const { api, authenticate } = mounted()
        const handle = expressHandler(api, {
          authenticate: ({ headers }: ExpressRequest) => authenticate(headers.authorization),
        })
        handle(request, response, next)
      })
      if (behind !== undefined) application.use('/', parser(express, behind))
      application.use('/', (request, response) => response.end(`the host: ${request.originalUrl}`))
      return running(createServer(application))
    },
  }
}

function parser({ json, raw, urlencoded }: Parsers, kind: Parser): Handle {
  switch (kind) {
    case 'json':
      return json()
    case 'raw':
      return raw({ type: () => true })
    case 'urlencoded':
      return urlencoded({ extended: true })
  }
}
