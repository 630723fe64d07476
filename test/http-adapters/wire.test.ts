import { describe, expect, it } from 'vitest'
import type { Reply } from '../http.ts'
import { openCase, openWorld } from '../world.ts'
import { cases } from './cases.ts'
import type { Exchanged } from './declared-replies.ts'
import { checkReply, declaredBy } from './declared-replies.ts'
import { dispatched } from './dispatch.ts'
import { runCase } from './run-case.ts'

// The specification of the wire, case by case, over dispatch; what is in between, no adapter changes: frameworks.test.ts. The
// same cases on forgelet serve: wire.servers.test.ts.

const everything = openWorld().api.openApi()

describe.each(Object.entries(cases))('%s', (_section, list) => {
  it.each(list)('$fact', async (given) => {
    const world = await openCase(given.world)
    const document = given.world?.services === undefined ? everything : world.api.openApi()
    await runCase(
      given,
      declaredBy(document, (sent) => dispatched(world, sent)),
    )
  })
})

it('every reply is the same where the ports answer later', async () => {
  const replies: { readonly now: Reply[]; readonly later: Reply[] } = { now: [], later: [] }
  for (const given of Object.values(cases).flat()) {
    for (const when of ['now', 'later'] as const) {
      const world = await openCase({ ...given.world, later: when === 'later' })
      await runCase(given, async (sent) => {
        const reply = await dispatched(world, sent)
        replies[when].push(reply)
        return reply
      })
    }
  }

  expect(replies.later).toEqual(replies.now)
})

it('the cases state every fact once', () => {
  const facts = Object.values(cases).flatMap((list) => list.map((one) => one.fact))

  expect(facts.filter((fact, index) => facts.indexOf(fact) !== index)).toEqual([])
})

describe('what the document does not declare is reported:', () => {
  const usual: [string, string][] = [
    ['cache-control', 'max-age=0, private, must-revalidate'],
    ['x-content-type-options', 'nosniff'],
    ['content-type', 'application/json;charset=utf-8'],
  ]
  const counted: [string, string][] = [
    ['x-total-count', '1'],
    ['access-control-expose-headers', 'X-Total-Count'],
  ]
  const list: Exchanged = {
    method: 'GET',
    path: '/admin/users/stan/badges?page=1',
    status: 200,
    headers: new Map([...usual, ...counted]),
    text: '[]',
  }
  const error: Partial<Exchanged> = { status: 404, headers: new Map(usual) }

  it.each<[string, Partial<Exchanged>, string]>([
    ['a status', { status: 418 }, 'the status 418 is not declared'],
    ['a header', { headers: new Map([...usual, ...counted, ['x-more', '1']]) }, 'has the header x-more'],
    ['a missing header', { headers: new Map(usual) }, 'lacks the header access-control-expose-headers'],
    ['a body of another form', { text: '[{"id":1}]' }, "must have required property 'slug'"],
    ['a body where none is expected', { method: 'HEAD' }, 'has a body'],
    ['a path', { path: '/version' }, 'GET /version: the status 200 is not declared'],
    ['a code', { ...error, text: '{"message":"","url":"","code":"NOT_BLOCKED"}' }, 'at "/code"'],
  ])('%s', (_what, change, reported) => {
    expect(checkReply(everything, list)).toEqual([])
    expect(checkReply(everything, { ...list, ...change }).join('\n')).toContain(reported)
  })
})
