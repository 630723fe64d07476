import { describe, expect, it } from 'vitest'
import type { Reply } from '../http.ts'
import { authenticate, openCase } from '../world.ts'
import type { Case } from './cases/case.ts'
import { cases } from './cases.ts'
import { dispatched } from './dispatch.ts'
import { runCase } from './run-case.ts'

// The specification of the wire, case by case, over dispatch; what is in between, no adapter changes: frameworks.test.ts. The
// same cases on forgelet serve: wire.servers.test.ts. That the OpenAPI document declares each reply: documented-routes.test.ts.

/** Runs a case in a world of its own. Gives every reply, which must be the same where the ports answer later. */
async function run(given: Case, later: boolean): Promise<readonly Reply[]> {
  const world = await openCase({ ...given.world, later })
  const replies: Reply[] = []
  await runCase(given, async (sent) => {
    const reply = await dispatched(world.api, sent, authenticate)
    replies.push(reply)
    return reply
  })
  return replies
}

describe.each(Object.entries(cases))('%s', (_section, list) => {
  it.each(list)('$fact', async (given) => {
    expect(await run(given, true)).toEqual(await run(given, false))
  })
})

it('the cases state every fact once', () => {
  const facts = Object.values(cases).flatMap((list) => list.map((one) => one.fact))

  expect(facts.filter((fact, index) => facts.indexOf(fact) !== index)).toEqual([])
})
