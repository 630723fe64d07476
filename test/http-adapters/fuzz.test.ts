import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Connection, Reply } from '../http.ts'
import { ask, dial, serve } from '../http.ts'
import { BADGES, openWorld, people, sshKey } from '../world.ts'
import { checkReply } from './declared-replies.ts'
import { mounted } from './node/mounted.ts'

// Odd requests to the paths of the API, byte by byte: mostly to what is there, in odd spellings, with odd headers and bodies.

const REQUESTS = process.env['LONG'] === '1' ? 100_000 : 500
const BODY_LIMIT = 2000

/** One of these words. */
const oneOf = (words: string): fc.Arbitrary<string> => fc.constantFrom(...words.split(' '))

const USUAL = 'GET HEAD POST PUT PATCH DELETE OPTIONS'
const METHOD = fc.oneof({ weight: 20, arbitrary: oneOf(USUAL) }, oneOf('PROPFIND LOCK QUERY'))

const ODD_NUMBERS = '0 -1 +7 007 99 1.5 1e3 9007199254740993 9223372036854775808 first'
const KNOWN: Readonly<Record<string, string>> = {
  owner: 'acme ACME hidden olga',
  repo: 'rocket Rocket secret',
  index: `1 2 3 4 6 7 ${ODD_NUMBERS}`,
  position: `1 2 3 ${ODD_NUMBERS}`,
  org: 'acme hidden stan anonymous',
  username: `${people.map(({ name }) => name).join(' ')} acme anonymous`,
}
const oddName = fc.oneof(
  oneOf('%2F acme%2Frocket %252F %00 %zz % %C3%28 %ED%A0%80 %20 %0d%0a .. . ..%2F.. %2e%2e * system {org} __proto__'),
  fc.constantFrom('', 'a'.repeat(2000)),
  fc.string({ maxLength: 8, unit: fc.constantFrom(...'abcXYZ019-._~!$&\'()*+,;=:@%/|"<>^`{}[]') }),
)

/** A path of the document, with names for its parameters and, now and then, an odd spelling. */
function pathsOf(template: string): fc.Arbitrary<string> {
  const segments = template.split('/').map((segment) => {
    if (!segment.startsWith('{')) return fc.constant(segment)
    return fc.oneof({ weight: 12, arbitrary: oneOf(KNOWN[segment.slice(1, -1)] ?? '1') }, oddName)
  })
  const path = fc.tuple(...segments).map((parts) => parts.join('/'))
  const odd = path.chain((one) =>
    fc.constantFrom(`${one}//`, `/${one}`, one.replace('/', '//').toUpperCase(), `${one}/more;a=b`, `${one}/..`),
  )
  return fc.oneof({ weight: 12, arbitrary: path }, odd)
}

const parameter = oneOf('page limit note token dry_run on_conflict attribution __proto__')
const value = oneOf(`${ODD_NUMBERS} 1 50 51 %zz % a+b%2Bc %00 %ED%A0%80 ${'%F0%9F%9A%80'.repeat(260)}`)
const query = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom('', '?', '??', '?&&=&', '?page') },
  fc
    .array(fc.tuple(parameter, value), { maxLength: 3 }) // Node takes 16 KiB
    .map((pairs) => `?${pairs.map((pair) => pair.join('=')).join('&')}`),
)

const headers = fc.record(
  {
    Authorization: fc.oneof(
      { weight: 6, arbitrary: oneOf('root root olga ada stan').map((name) => `token ${name}`) },
      fc.constantFrom('', 'token', 'token unknown', 'Bearer', 'Basic !!!', `token ${'x'.repeat(500)}`, '\u00ff'),
    ),
    'Content-Type': oneOf('application/json application/yaml text/plain multipart/form-data / ;="*/\\\u00e9'),
    'Content-Encoding': oneOf('identity gzip br'),
    'If-None-Match': fc.constantFrom('*', '"abc"', 'W/"abc"', '"abc', ', ,', '"x", "abc"'),
    Origin: fc.constantFrom('null', 'https://evil.example.com', 'http://127.0.0.1', '', 'https://', 'a b', 'file://'),
    'Sec-Fetch-Site': oneOf('cross-site same-origin same-site none other'),
  },
  { requiredKeys: [] },
)

const slug = fc.oneof(oneOf('night-owl founder nothing'), fc.string({ maxLength: 300, unit: 'grapheme' }))
const slugs = fc.oneof(
  fc.array(slug, { maxLength: 5 }),
  fc.nat(BODY_LIMIT * 3).map((size) => ['x'.repeat(size)]),
  fc.anything({ maxDepth: 2 }),
)
const body = fc.oneof(
  { weight: 4, arbitrary: slugs.map((list) => JSON.stringify({ badge_slugs: list })) },
  fc.json(),
  fc.constantFrom('', ' ', 'null', '[]', '{', '\ufeff{}', '{"badge_slugs":["\ud800"]}', '[['.repeat(500)),
  fc.string({ maxLength: 50, unit: fc.nat(0xff).map((code) => String.fromCharCode(code)) }),
)

it('an odd request is answered, as the document declares it, and never with 500', { timeout: 600_000 }, async () => {
  const world = openWorld({ signingKey: sshKey, limits: { maxBodyBytes: BODY_LIMIT } })
  for (const badge of BADGES) await world.forge.badges.catalogue.define('system', badge)
  const document = world.api.openApi()
  const port = await serve(mounted(world))
  let connection: Connection | undefined

  async function reply(method: string, request: string): Promise<Reply> {
    connection ??= await dial(port)
    await connection.send(request)
    const received = await connection.reply(method)
    if (received.headers.get('connection') !== 'keep-alive') connection = undefined
    return received
  }

  const target = fc.constantFrom(...Object.keys(document.paths)).chain(pathsOf)
  const sent = fc.record({
    method: METHOD,
    target,
    query,
    headers,
    body: fc.option(body, { nil: undefined, freq: 2 }),
    isChunked: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(sent, async ({ method, target, query, headers, body = '', isChunked }) => {
      const first = `${method} /api${target}${query}`
      const size = Buffer.byteLength(body)
      const request =
        isChunked && size > 0
          ? `${ask(first, { ...headers, 'Transfer-Encoding': 'chunked' })}${size.toString(16)}\r\n${body}\r\n0\r\n\r\n`
          : ask(first, headers, body)
      const received = await reply(method, request)

      expect(received.status).toBeLessThan(500)
      expect(checkReply(document, { method, path: target + query, ...received })).toEqual([])
    }),
    { numRuns: REQUESTS },
  )
  expect(world.logged).toEqual([])
})
