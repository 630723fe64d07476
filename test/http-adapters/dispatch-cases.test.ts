import { describe, expect, it } from 'vitest'
import type { NeutralRequest } from '../../src/http-adapters/http.ts'
import { cases } from './cases.ts'
import type { Seen, Sent } from './run-case.ts'
import { runCase } from './run-case.ts'
import type { World } from './world.ts'
import { authenticate } from './world.ts'

function toNeutral({ method, path: target, headers, body }: Sent): NeutralRequest {
  const [path = '', query = ''] = target.split('?')
  return { method, path, query, header: (name) => headers[name], body: () => body }
}

async function send({ api }: World, sent: Sent): Promise<Seen> {
  const request = toNeutral(sent)
  const reply = await api.dispatch(request, () => authenticate(sent.headers['authorization']))
  const { status, headers, body = '' } = reply ?? api.unmatched(request)
  return { status, headers: new Map(headers.map(([name, value]) => [name.toLowerCase(), value])), text: body }
}

describe.each(Object.entries(cases))('dispatch: %s', (_section, list) => {
  it.each(list)('$fact', (given) => runCase(given, send))
})

describe.each(Object.entries(cases))('dispatch with ports that answer later: %s', (_section, list) => {
  it.each(list)('$fact', (given) => runCase({ ...given, world: { ...given.world, later: true } }, send))
})

describe('dispatch', () => {
  it('has cases in which every fact is told once', () => {
    const facts = Object.values(cases).flatMap((list) => list.map((one) => one.fact))

    expect(facts.filter((fact, index) => facts.indexOf(fact) !== index)).toEqual([])
  })
})
