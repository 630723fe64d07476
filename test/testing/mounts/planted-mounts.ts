import type { ServerResponse } from 'node:http'
import { nodeHandler } from '../../../src/http-adapters/node.ts'
import { authenticate } from '../../world.ts'
import type { PlantedMount } from './planted-mount.ts'
import { answering, changing, overwriting, reading, rewriting } from './planted-mount.ts'

const isChanging = ['POST', 'PUT', 'PATCH', 'DELETE']
const garbage = ':::'

function html(response: ServerResponse, status: number, text = '<h1>no</h1>'): void {
  response.writeHead(status, { 'Content-Type': 'text/html' }).end(text)
}

/** A mounting that answers no one after a client has disconnected from a path. */
function endingWith(path: string): PlantedMount['plant'] {
  let hasEnded = false
  return ({ handle, hangs }) =>
    (request, response) => {
      if (hasEnded) return hangs()
      if (request.url?.endsWith(path) === true) {
        hasEnded = true
        return
      }
      handle(request, response)
    }
}

/** Mountings with one fault each, and the case that catches it. */
export const PLANTED_MOUNTS: readonly PlantedMount[] = [
  // Targets.
  {
    fault: 'stands elsewhere',
    caughtBy: 'a path of the API is answered by the API',
    plant: rewriting((path, query) => `/elsewhere${path}${query}`),
  },
  {
    fault: 'decodes paths',
    caughtBy: 'a slash written as %2F stays in its segment',
    plant: rewriting((path, query) => `${path.replaceAll('%2F', '/')}${query}`),
  },
  {
    fault: 'takes backslashes for slashes',
    caughtBy: 'a slash written as %5C stays in its segment',
    plant: rewriting((path, query) => `${path.replaceAll('%5C', '/')}${query}`),
  },
  {
    fault: 'decodes percent signs',
    caughtBy: 'a segment is decoded once',
    plant: rewriting((path, query) => `${path.replaceAll('%25', '%')}${query}`),
  },
  {
    fault: 'decodes names',
    caughtBy: 'a name is decoded once',
    plant: rewriting((path, query) => `${path.replaceAll('%25', '%')}${query}`),
  },
  ...['%', '%zz', '%C3%28'].map((name) => ({
    fault: `fails at the malformed ${name}`,
    caughtBy: `a path with the malformed ${name} is 404, and no error is thrown`,
    plant: answering(
      ({ url = '' }) => url.includes(`/${name}/`),
      (response) => html(response, 500, 'URIError: URI malformed'),
    ),
  })),
  {
    fault: 'knows no absolute targets',
    caughtBy: 'a target in absolute form counts as its path',
    plant: answering(
      ({ url = '' }) => !url.startsWith('/'),
      (response) => html(response, 400),
    ),
  },
  {
    fault: 'refuses a slash at the end',
    caughtBy: 'one trailing slash makes no difference, two do',
    plant: answering(
      ({ url = '' }) => url.endsWith('/'),
      (response) => html(response, 404),
    ),
  },
  {
    fault: 'drops every slash at the end',
    caughtBy: 'one trailing slash makes no difference, two do',
    plant: rewriting((path, query) => `${path.replace(/\/+$/, '')}${query}`),
  },
  {
    fault: 'takes a question mark for part of the path',
    caughtBy: 'a question mark without a query makes no difference',
    plant: rewriting((path, query) => `${path}${query === '?' ? '%3F' : query}`),
  },
  {
    fault: 'fails at its mount root',
    caughtBy: 'the mount root answers, with a query and without',
    plant: answering(
      ({ url = '' }) => /^\/a\/b(?:\?|$)/.test(url),
      (response) => html(response, 500),
    ),
  },
  {
    fault: 'loses the query at its mount root',
    caughtBy: '/a/b?x=1&y=%2F reaches the host',
    plant: rewriting((path, query) => (path === '/a/b' ? path : `${path}${query}`)),
  },
  {
    fault: "hides a path of the host's",
    caughtBy: '/a/b/users/stan?x=1 reaches the host',
    plant: ({ world }) =>
      nodeHandler(world.api, { authenticate: ({ headers }) => authenticate(headers.authorization), basePath: '/a/b' }),
  },

  // Queries and links.
  {
    fault: 'loses queries',
    caughtBy: 'a query reaches the handler',
    plant: rewriting((path) => path),
  },
  {
    fault: 'encodes queries again',
    caughtBy: '%2B in a query is decoded once',
    plant: rewriting((path, query) => `${path}${query.replaceAll('%', '%25')}`),
  },
  {
    fault: 'decodes queries',
    caughtBy: '%252B in a query is decoded once',
    plant: rewriting((path, query) => `${path}${query.replaceAll('%25', '%')}`),
  },
  {
    fault: 'takes queries for latin-1',
    caughtBy: '%F0%9F%90%9B in a query is decoded once',
    plant: rewriting((path, query) => `${path}${query.replaceAll('%F0%9F%90%9B', '%C3%B0%C2%9F%C2%90%C2%9B')}`),
  },
  {
    fault: 'accepts a query that is not valid text',
    caughtBy: 'a note that is not valid text is refused',
    plant: rewriting((path, query) => `${path}${query.replaceAll('%zz', '%EF%BF%BD')}`),
  },
  {
    fault: 'links to the Host header',
    caughtBy: 'links do not contain the Host header, and keep the query',
    plant: overwriting('Link', (old, { headers }) =>
      String(old).replaceAll('https://git.example.com', `http://${headers.host}`),
    ),
  },
  {
    fault: 'links without its public address',
    caughtBy: 'links begin with the public address, whatever the Host header says',
    plant: overwriting('Link', (old) => String(old).replaceAll('/api/v1', '')),
  },

  // Hosts and methods.
  {
    fault: 'says nothing to a strange Host header',
    caughtBy: `the Host header ${JSON.stringify(garbage)} causes no failure`,
    plant:
      ({ handle, hangs }) =>
      (request, response) =>
        request.headers.host === garbage ? hangs() : handle(request, response),
  },
  {
    fault: 'fails at a strange Host header',
    caughtBy: 'the Host header "[" causes no failure',
    plant: answering(
      ({ headers }) => !URL.canParse(`http://${headers.host}`),
      (response) => html(response, 500),
    ),
  },
  {
    fault: 'gives HEAD a body',
    caughtBy: 'HEAD is GET without a body',
    plant:
      ({ handle }) =>
      (request, response) => {
        handle(request, response)
        if (request.method === 'HEAD') request.socket.write('hello')
      },
  },
  {
    fault: 'does not take HEAD',
    caughtBy: 'HEAD is GET without a body',
    plant: answering(
      ({ method }) => method === 'HEAD',
      (response) => html(response, 405),
    ),
  },
  {
    fault: 'takes only the methods that it knows',
    caughtBy: 'a method that a path does not have is 405 with an Allow header',
    plant: answering(
      ({ method, url = '' }) => method === 'PUT' && url.endsWith('/pinned'),
      (response) => html(response, 404, 'Cannot PUT'),
    ),
  },
  {
    fault: 'answers every OPTIONS for CORS',
    caughtBy: 'OPTIONS is 204 with an Allow header',
    plant: answering(
      ({ method }) => method === 'OPTIONS',
      (response) => response.writeHead(204).end(),
    ),
  },

  // Errors.
  {
    fault: 'has a page of its own for what there is not',
    caughtBy: 'a missing resource is a JSON error',
    plant: answering(
      ({ url = '' }) => url.includes('no-such'),
      (response) => html(response, 404),
    ),
  },
  {
    fault: 'fails if no user is signed in',
    caughtBy: 'a request without credentials learns which scheme is expected',
    plant: ({ world }) =>
      nodeHandler(world.api, {
        authenticate: ({ headers: { authorization } }) => {
          if (authorization === undefined) throw new Error('no session')
          return authenticate(authorization)
        },
        basePath: '/a/b',
      }),
  },
  {
    fault: 'fails at strange credentials',
    caughtBy: 'malformed credentials cause no failure',
    plant: ({ world }) =>
      nodeHandler(world.api, {
        authenticate: ({ headers: { authorization } }) => {
          if (authorization?.includes('root') === false) throw new Error('jwt malformed')
          return authenticate(authorization)
        },
        basePath: '/a/b',
      }),
  },
  {
    fault: 'takes wrong credentials for none',
    caughtBy: 'wrong credentials are 401',
    plant: changing(
      ({ headers }) => headers.authorization !== 'token root' && Reflect.deleteProperty(headers, 'authorization'),
    ),
  },
  {
    fault: 'reports the thrown error',
    caughtBy: 'a port that throws is 500 with a requestId, and its message is not shown',
    plant: answering(
      ({ url = '' }) => url.includes('failing'),
      (response) => html(response, 500, `<pre>${new Error('password=hunter2').stack}</pre>`),
    ),
  },
  {
    fault: 'reports the thrown error as JSON',
    caughtBy: 'a port that throws is 500 with a requestId, and its message is not shown',
    plant: answering(
      ({ url = '' }) => url.includes('failing'),
      (response) =>
        response
          .writeHead(500, { 'Content-Type': 'application/json;charset=utf-8' })
          .end('{"message":"password=hunter2","url":"","code":"INTERNAL","requestId":"1"}'),
    ),
  },

  // Bodies.
  {
    fault: 'ends the connection with its 413',
    caughtBy: 'a body over the limit (length) is 413, also to a client that reads late',
    plant: answering(
      ({ headers }) => Number(headers['content-length']) > 50_000,
      (response, { socket }) => {
        response.writeHead(413, { 'Content-Type': 'application/json;charset=utf-8', Connection: 'close' })
        response.end('{"message":"too long","url":"","code":"BODY_TOO_LARGE"}', () => socket.destroy())
      },
    ),
  },
  {
    fault: 'ends the connection when chunks are too many',
    caughtBy: 'a body over the limit (chunked) is 413, also to a client that reads at once',
    plant: answering(
      ({ headers }) => headers['transfer-encoding'] === 'chunked',
      (_response, { socket }) => socket.destroy(),
    ),
  },
  {
    fault: 'takes bodies of every length',
    caughtBy: 'a body at the limit is accepted, and one byte more is 413 (length)',
    plant: reading(isChanging, (request, body) => Object.assign(request, { body: JSON.parse(body) })),
  },
  {
    fault: 'takes in every body before it asks who sends it',
    caughtBy: 'a refusal does not wait for the body',
    plant: reading(isChanging, (request, body) => Object.assign(request, { body })),
  },
  {
    fault: 'takes in the bodies of strangers',
    caughtBy: 'a request without credentials is refused before its body is read',
    plant: reading(isChanging, (request, body) => Object.assign(request, { body })),
  },
  {
    fault: 'reads bodies and keeps nothing of them',
    caughtBy: 'a JSON body as application/json is accepted with POST and DELETE',
    plant: reading(isChanging, () => undefined),
  },
  {
    fault: 'takes no bodies of DELETE',
    caughtBy: 'a JSON body without a content type is accepted with POST and DELETE',
    plant: reading(['DELETE'], () => undefined),
  },
  {
    fault: 'adds a body where none is expected',
    caughtBy: 'a missing body is reported',
    plant: reading(isChanging, (request) => Object.assign(request, { body: { badge_slugs: [] } })),
  },

  // Headers and connections.
  {
    fault: 'joins the cookies to one',
    caughtBy: 'headers that the host sets on every response are present',
    plant:
      ({ handle }) =>
      (request, response) => {
        response.setHeader('Set-Cookie', 'host=1, theme=dark')
        handle(request, response)
      },
  },
  {
    fault: 'lets caches keep what it answers',
    caughtBy: 'caches store no response',
    plant: overwriting('Cache-Control', () => 'public, max-age=3600'),
  },
  {
    fault: 'lets browsers guess what an answer is',
    caughtBy: 'browsers do not guess the type of any response',
    plant:
      ({ handle }) =>
      (request, response) => {
        const setHeader = response.setHeader.bind(response)
        response.setHeader = (key, value) => (key === 'X-Content-Type-Options' ? response : setHeader(key, value))
        handle(request, response)
      },
  },
  {
    fault: 'ends every connection',
    caughtBy: 'a connection stays usable after a missing resource',
    plant:
      ({ handle }) =>
      (request, response) => {
        response.setHeader('Connection', 'close')
        handle(request, response)
      },
  },
  {
    fault: 'answers twice',
    caughtBy: 'a connection stays usable after a wrong method',
    plant:
      ({ handle }) =>
      (request, response) => {
        response.on('finish', () => request.socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'))
        handle(request, response)
      },
  },
  {
    fault: 'ends the connection where a body is left',
    caughtBy: 'a connection stays usable after an unread chunked body',
    plant:
      ({ handle }) =>
      (request, response) => {
        if (request.headers['transfer-encoding'] !== undefined) response.setHeader('Connection', 'close')
        handle(request, response)
      },
  },
  {
    fault: 'hides that the client is gone',
    caughtBy: 'a client that disconnects aborts the signal that the ports receive',
    plant:
      ({ handle, hangs }) =>
      (request, response) => {
        const on = response.on.bind(response)
        on('close', () => !response.writableFinished && hangs())
        response.on = (event, listener) => (event === 'close' ? response : on(event, listener))
        handle(request, response)
      },
  },

  // Exports and imports.
  {
    fault: 'shortens exports',
    caughtBy: 'an export arrives whole, and the connection stays usable',
    plant:
      ({ handle }) =>
      (request, response) => {
        if (request.url?.endsWith('/export') !== true) return handle(request, response)
        const end = response.end.bind(response)
        response.write = () => true
        response.end = () => end('[')
        handle(request, response)
      },
  },
  {
    fault: 'ends the connection behind an export',
    caughtBy: 'an export arrives whole, and the connection stays usable',
    plant:
      ({ handle }) =>
      (request, response) => {
        if (request.url?.endsWith('/export') === true) response.setHeader('Connection', 'close')
        handle(request, response)
      },
  },
  {
    fault: 'gives HEAD of an export a body',
    caughtBy: 'HEAD of an export has no body',
    plant:
      ({ handle }) =>
      (request, response) => {
        const end = response.end.bind(response)
        response.end = (chunk?: unknown) => {
          if (request.method !== 'HEAD') return end(chunk)
          end()
          request.socket.write('[]')
          return response
        }
        handle(request, response)
      },
  },
  {
    fault: 'ends with the client that disconnects during an export',
    caughtBy: 'a client that disconnects during an export disturbs no one',
    plant: endingWith('/export'),
  },
  {
    fault: 'ends with the client that disconnects during an import',
    caughtBy: 'a client that disconnects during an import disturbs no one',
    plant: endingWith('/import?dry_run=true'),
  },
  ...(['length', 'chunked'] as const).map((framing) => ({
    fault: `takes an import (${framing}) for one without a body`,
    caughtBy: `an import is read (${framing}), and the connection stays usable`,
    plant: changing((request) => {
      const isMeant = (request.headers['transfer-encoding'] === 'chunked') === (framing === 'chunked')
      if (request.method === 'POST' && isMeant) Object.assign(request, { body: '' })
    }),
  })),
  {
    fault: 'takes compressed bodies for texts',
    caughtBy: 'an import that is compressed with gzip is read, also if no header says so',
    plant: reading(isChanging, (request, body) => Object.assign(request, { body })),
  },
  {
    fault: 'repairs documents',
    caughtBy: 'a document that is not valid is 422',
    plant: reading(isChanging, (request) => Object.assign(request, { body: [] })),
  },
  ...(['length', 'chunked'] as const).map((framing) => ({
    fault: `has a page of its own for an import that is too long (${framing})`,
    caughtBy: `an import over the limit (${framing}) is 413`,
    plant: answering(
      ({ headers, url = '' }) => {
        const isMeant = (headers['transfer-encoding'] === 'chunked') === (framing === 'chunked')
        return isMeant && url.includes('/import')
      },
      (response) => html(response, 413),
    ),
  })),
  {
    fault: 'limits what it has not decompressed',
    caughtBy: 'an import over the limit is 413, also if it is compressed',
    plant: answering(
      ({ headers, url = '' }) => url.includes('/import') && Number(headers['content-length']) < 10_000,
      (response) =>
        response.writeHead(200, { 'Content-Type': 'application/json;charset=utf-8' }).end('{"dry_run":true}'),
    ),
  },

  // Other sites.
  {
    fault: 'loses Sec-Fetch-Site',
    caughtBy: 'a change requested by another site is 403 (Sec-Fetch-Site: cross-site)',
    plant: changing(({ headers }) => Reflect.deleteProperty(headers, 'sec-fetch-site')),
  },
  ...['https://elsewhere.example', 'null'].map((origin) => ({
    fault: `lets pass the origin ${origin}`,
    caughtBy: `a change requested by another site is 403 (Origin: ${origin})`,
    plant: changing(({ headers }) => headers.origin === origin && Reflect.deleteProperty(headers, 'origin')),
  })),
  ...['https://elsewhere.example', 'null'].map((origin) => ({
    fault: `refuses the origin ${origin} from every client`,
    caughtBy: `a request with its own credentials passes from any site (Origin: ${origin})`,
    plant: answering(
      ({ headers }) => headers.origin === origin,
      (response) => html(response, 403),
    ),
  })),
  {
    fault: 'takes every page of its own domain for its own',
    caughtBy: 'a change requested by another site is 403 (Sec-Fetch-Site: same-site)',
    plant: changing(({ headers }) => {
      if (headers['sec-fetch-site'] === 'same-site') headers['sec-fetch-site'] = 'same-origin'
    }),
  },
  {
    fault: 'makes a token of Basic credentials',
    caughtBy: 'a change requested by another site is 403, even with credentials that browsers add',
    plant: changing(({ headers }) => {
      headers.authorization = headers.authorization?.replace(/^Basic /, 'token ')
    }),
  },
  {
    fault: 'refuses what changes nothing',
    caughtBy: 'a request that changes nothing passes from any site',
    plant: answering(
      ({ headers }) => headers.origin !== undefined,
      (response) => html(response, 403),
    ),
  },
  {
    fault: "refuses the host's own pages",
    caughtBy: "the host's own pages may request changes",
    plant: answering(
      ({ headers }) => headers['sec-fetch-site'] !== undefined,
      (response) => html(response, 403),
    ),
  },
  {
    fault: 'does not know its public address',
    caughtBy: 'pages of the public address may request changes',
    plant: changing(({ headers }) => {
      if (headers.origin === 'https://git.example.com') headers.origin = 'https://another.example'
    }),
  },
]
