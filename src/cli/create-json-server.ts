import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { errorBody, jsonHeaders, replyJson } from './json-reply.ts'

/** Answers requests. */
export interface Reception {
  /** Answers one. */
  receive(request: IncomingMessage, response: ServerResponse): void
  /** Where the API page is, as errors name it; `""` while it is not known. */
  readonly docsUrl: string
}

/** An HTTP server that tells in JSON also what Node refuses before it is a request: clients of the API read every body. */
export function createJsonServer(reception: Reception): Server {
  // Node's own check for a Host has no body.
  const server = createServer({ requireHostHeader: false }, (request, response) => {
    if (lacksHost(request)) refuse(response, 400, NO_HOST, reception)
    else reception.receive(request, response)
  })
  server.on('checkExpectation', (_, response) => refuse(response, 417, EXPECTATION, reception))
  server.on('clientError', (error, socket) => answerUnreadable(error, socket, reception))
  return server
}

/** Source: RFC 9112, section 3.2 */
function lacksHost({ httpVersion, headers }: IncomingMessage): boolean {
  return httpVersion === '1.1' && headers.host === undefined
}

type Wrong = readonly [code: string, message: string]

const NO_HOST: Wrong = ['BAD_REQUEST', 'the request has no Host header']
const EXPECTATION: Wrong = ['EXPECTATION_FAILED', 'no other expectation than 100-continue is met']

function refuse(response: ServerResponse, status: number, wrong: Wrong, { docsUrl }: Reception): void {
  replyJson(response, status, errorBody(...wrong, docsUrl), [['Connection', 'close']])
}

/** Every answer of this server is written whole, so that nothing is cut in two by this one. */
function answerUnreadable(error: NodeJS.ErrnoException, socket: Duplex, { docsUrl }: Reception): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }

  const [status, code, message] = REFUSALS[error.code ?? ''] ?? BAD_REQUEST
  const text = JSON.stringify(errorBody(code, message, docsUrl))
  const lines = [['Connection', 'close'], ...jsonHeaders(text)].map(([name, value]) => `${name}: ${value}`)
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines].join('\r\n')
  socket.end(`${head}\r\n\r\n${text}`, () => socket.destroy())
}

type Refusal = readonly [status: number, code: string, message: string]

const BAD_REQUEST: Refusal = [400, 'BAD_REQUEST', 'the request is not valid HTTP']
const REFUSALS: { readonly [code: string]: Refusal | undefined } = {
  HPE_HEADER_OVERFLOW: [431, 'HEADERS_TOO_LARGE', 'the headers must not be longer than 16 KiB'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'BODY_TOO_LARGE', 'the extensions of a chunk must not be longer than 16 KiB'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'REQUEST_TIMEOUT', 'the request did not come in time'],
}
