// The cases of the wire, over real HTTP: each in a world of its own. They are those of the tests of HTTP, checked with the
// means of Node.
import assert from 'node:assert/strict'
import { cases } from '../../http-adapters/cases.ts'
import { send } from './client.mjs'

/** The cases for a server that answers on a port, below a base that names the storage. */
export function wireCases(port, kind) {
  const all = Object.entries(cases).flatMap(([section, list]) => list.map((given) => ({ section, given })))
  return all.map(({ section, given }, index) => ({
    name: `${kind}: ${section}: ${given.fact}`,
    run: () => runCase(given, (ask, headers) => send(port, toSent(`/${kind}/case-${index}/api`, ask, headers))),
  }))
}

async function runCase({ before = [], ask, headers, status, expected = {}, after }, sendAsk) {
  for (const one of before) assert.equal((await sendAsk(one)).status, 204)

  const seen = await sendAsk(ask, headers)
  assert.deepEqual({ status: seen.status, text: seen.text }, { status, text: seen.text })
  assertSound(seen, ask[1])
  assertReply(seen, expected)
  if (after === undefined) return
  const [path, json] = after
  assert.deepEqual(JSON.parse((await sendAsk(['root', 'GET', path])).text), json)
}

function toSent(base, [who, method, path, body], headers = {}) {
  const credential = who === 'anonymous' ? {} : { authorization: `token ${who}` }
  return {
    method,
    path: `${base}${path}`,
    body: typeof body === 'object' ? JSON.stringify(body) : body,
    headers: { ...headers, ...credential },
  }
}

/** What holds for every reply. */
function assertSound({ status, headers, text }, method) {
  assert.equal(headers['cache-control'], 'max-age=0, private, must-revalidate')
  assert.equal(headers['x-content-type-options'], 'nosniff')
  if (status === 204 || status === 304) assert.deepEqual([text, headers['content-type']], ['', undefined])
  if (status >= 400) assert.equal(headers['content-type'], 'application/json;charset=utf-8')
  if (status >= 400 && method !== 'HEAD') assert.match(text, /^\{"message":".+","url":"","code":"\w+"/)
}

function assertReply(seen, { code, message, violations, json, text, headers = {} }) {
  if (code !== undefined) assert.equal(JSON.parse(seen.text).code, code)
  if (message !== undefined) assert.equal(JSON.parse(seen.text).message, message)
  if (violations !== undefined) {
    const pointers = JSON.parse(seen.text).violations.map(({ pointer }) => pointer)
    assert.deepEqual(pointers, violations)
  }
  if (json !== undefined) assert.deepEqual(JSON.parse(seen.text), json)
  if (text !== undefined) assert.equal(seen.text, text)
  for (const [name, value] of Object.entries(headers)) {
    assert.deepEqual([name, seen.headers[name] ?? null], [name, value])
  }
}
