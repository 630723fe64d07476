import fc from 'fast-check'
import { people } from '../world.ts'

/** A request as it is sent; the path is below the mount point, with its query. */
export interface FuzzedRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | undefined
  /** Whether the body is sent without its length. */
  readonly chunked: boolean
}

/** Bytes that a body may have in the world that is fuzzed: small, so that too much is cheap. */
export const BODY_LIMIT = 2000

interface Documented {
  readonly paths: Readonly<Record<string, object>>
}

/** What a parameter of each name may well be; the rest of its values is odd. */
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  owner: ['acme', 'ACME', 'hidden', 'olga'],
  repo: ['rocket', 'Rocket', 'secret'],
  index: ['1', '2', '3', '4', '6', '7', '+7', '007', '99', '0', '-1', '1.5', '9007199254740993', '1e3'],
  position: ['1', '2', '3', '0', '-1', '99', '9223372036854775807', '9223372036854775808', 'first'],
  org: ['acme', 'hidden', 'stan', 'anonymous'],
  username: [...people.map(({ name }) => name), 'acme', 'anonymous'],
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'LOCK', 'QUERY']
/** Not a space, not what begins a query or a fragment: that would be another request. */
const PATH_CHARACTERS = [...'abcXYZ019-._~!$&\'()*+,;=:@%/|"<>^`{}[]']

/**
 * Requests to the paths of an OpenAPI document: mostly to what is there, in odd spellings, with odd headers, bodies of the right
 * and the wrong shape and size.
 */
export function fuzzedRequest(document: object): fc.Arbitrary<FuzzedRequest> {
  // Only the names of the paths are read.
  const templates = Object.keys((document as Documented).paths)
  return fc.record({
    method: fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...METHODS.slice(0, 7)) }, fc.constantFrom(...METHODS)),
    path: fc
      .tuple(fc.constantFrom(...templates).chain(filledIn), deformation, query)
      .map(([path, deform, search]) => deform(path) + search),
    headers,
    body: fc.option(body, { nil: undefined, freq: 2 }),
    chunked: fc.boolean(),
  })
}

function filledIn(template: string): fc.Arbitrary<string> {
  const segments = template.split('/').map((segment) => {
    if (!segment.startsWith('{')) return fc.constant(segment)
    const known = KNOWN[segment.slice(1, -1)] ?? ['1']
    return fc.oneof({ weight: 12, arbitrary: fc.constantFrom(...known) }, oddSegment)
  })
  return fc.tuple(...segments).map((parts) => parts.join('/'))
}

const oddSegment = fc.oneof(
  fc.constantFrom(
    '%2F',
    'acme%2Frocket',
    '%252F',
    '%00',
    '%zz',
    '%',
    '%C3%28',
    '%F0%9F%9A%80',
    '%ED%A0%80',
    '',
    '%20',
    '%0d%0a',
  ),
  fc.constantFrom('a'.repeat(2000), '__proto__', 'constructor', '..%2F..', '%2e%2e', '..', '.', '*', 'system', '{org}'),
  fc.string({ maxLength: 8 }).map(encodeURIComponent),
  fc.string({ maxLength: 8, unit: 'binary' }).map((text) => encodeURIComponent(text.toWellFormed())),
  fc.string({ maxLength: 8, unit: fc.constantFrom(...PATH_CHARACTERS) }),
)

const asItIs = (path: string): string => path
const deformation: fc.Arbitrary<(path: string) => string> = fc.oneof(
  { weight: 12, arbitrary: fc.constant(asItIs) },
  fc.constantFrom(
    (path: string) => `${path}/`,
    (path: string) => `${path}//`,
    (path: string) => `/${path}`,
    (path: string) => path.replace('/', '//'),
    (path: string) => path.toUpperCase(),
    (path: string) => path.slice(0, path.lastIndexOf('/')),
    (path: string) => `${path}/more`,
    (path: string) => `${path};a=b`,
    (path: string) => path.replaceAll('a', '%61'),
    () => '/',
  ),
)

const queryValue = fc.oneof(
  fc.constantFrom(
    '1',
    '2',
    '0',
    '-1',
    '50',
    '51',
    '1e9',
    '99999999999999999999',
    '',
    '%zz',
    '%',
    'a+b%2Bc',
    '%00',
    '%ED%A0%80',
  ),
  fc.constantFrom('x'.repeat(300), '%F0%9F%9A%80'.repeat(260)),
  fc.string({ maxLength: 8 }).map(encodeURIComponent),
)
const query = fc.oneof(
  { weight: 2, arbitrary: fc.constant('') },
  fc.constantFrom('?', '??', '?&&=', '?page', '?=1'),
  fc
    .array(fc.tuple(fc.constantFrom('page', 'limit', 'note', 'token', 'access_token', 'x', '__proto__'), queryValue), {
      maxLength: 3, // all in all less than Node's 16 KiB
    })
    .map((pairs) => `?${pairs.map(([name, value]) => `${name}=${value}`).join('&')}`),
)

const credential = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...people.map(({ name }) => `token ${name}`)) },
  { weight: 3, arbitrary: fc.constantFrom('token root', 'token olga', 'token ada') },
  fc.constantFrom(
    '',
    'token',
    'token unknown',
    'Bearer',
    'Basic !!!',
    'Basic cm9vdDo=',
    `token ${'x'.repeat(500)}`,
    '\u00ff',
  ),
)
const headerText = fc.string({ maxLength: 20, unit: fc.constantFrom(...'aZ09 ,;="*/\\\u00e9\u00ff') })
const headers = fc.record(
  {
    authorization: credential,
    'content-type': fc.oneof(
      fc.constantFrom(
        'application/json',
        'text/plain',
        'application/x-www-form-urlencoded',
        'multipart/form-data',
        '/',
      ),
      headerText,
    ),
    accept: fc.oneof(fc.constantFrom('*/*', 'text/html', 'application/xml;q=0'), headerText),
    'if-none-match': fc.constantFrom('*', '"abc"', 'W/"abc"', '"abc', ', ,', '"x", "abc"'),
    origin: fc.constantFrom('null', 'https://evil.example.com', 'http://127.0.0.1', '', 'https://', 'a b', 'file://'),
    'sec-fetch-site': fc.constantFrom('cross-site', 'same-origin', 'same-site', 'none', 'other'),
    'accept-encoding': fc.constantFrom('gzip', 'br;q=1', 'identity;q=0'),
    'x-forwarded-host': fc.constantFrom('evil.example.com', ''),
    'x-http-method-override': fc.constantFrom('DELETE', 'CONNECT'),
    cookie: headerText,
    range: fc.constantFrom('bytes=0-1', 'bytes=-'),
  },
  { requiredKeys: [] },
)

const slugs = fc.array(
  fc.oneof(fc.constantFrom('night-owl', 'founder', 'nothing', ''), fc.string({ maxLength: 300, unit: 'grapheme' })),
  { maxLength: 5 },
)
const text = fc.oneof(
  { weight: 4, arbitrary: slugs.map((list) => JSON.stringify({ badge_slugs: list })) },
  fc.json(),
  fc.anything({ maxDepth: 2 }).map((list) => JSON.stringify({ badge_slugs: list }) ?? ''),
  fc.constantFrom(
    '',
    ' ',
    'null',
    '[]',
    '{',
    '{"badge_slugs"',
    '\ufeff{}',
    '{"badge_slugs":["\ud800"]}',
    '[['.repeat(500),
  ),
  fc.nat(BODY_LIMIT * 3).map((size) => JSON.stringify({ badge_slugs: ['x'.repeat(size)] })),
)
const body: fc.Arbitrary<Uint8Array> = fc.oneof(
  { weight: 5, arbitrary: text.map((one) => new TextEncoder().encode(one)) },
  fc.uint8Array({ maxLength: 50 }),
)
