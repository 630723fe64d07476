import { describe, expect, it } from 'vitest'
import type { Reply } from '../http.ts'
import { openCase, openWorld } from '../world.ts'
import { cases } from './cases.ts'
import { declaredBy } from './declared-replies.ts'
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
