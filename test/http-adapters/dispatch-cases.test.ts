import { describe, expect, it } from 'vitest'
import { cases } from './cases.ts'
import { dispatched } from './dispatched.ts'
import { runCase } from './run-case.ts'

describe.each(Object.entries(cases))('dispatch: %s', (_section, list) => {
  it.each(list)('$fact', (given) => runCase(given, dispatched))
})

describe.each(Object.entries(cases))('dispatch with ports that answer later: %s', (_section, list) => {
  it.each(list)('$fact', (given) => runCase({ ...given, world: { ...given.world, later: true } }, dispatched))
})

describe('dispatch', () => {
  it('has cases that state every fact once', () => {
    const facts = Object.values(cases).flatMap((list) => list.map((one) => one.fact))

    expect(facts.filter((fact, index) => facts.indexOf(fact) !== index)).toEqual([])
  })
})
