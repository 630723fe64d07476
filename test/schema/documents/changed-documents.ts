import fc from 'fast-check'
import { character, issuesOf } from './generated-issues.ts'

const GONE = Symbol('gone')

const times = fc.oneof(
  fc
    .date({ min: new Date('0000-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true })
    .map((moment) => moment.toISOString()),
  fc.constantFrom('2024-02-29t08:30:00z', '1990-12-31T23:59:60Z', '2024-03-01T10:00:00.123456789+23:59'),
)
const text = fc.string({ unit: fc.oneof(character, fc.constant('\0')), maxLength: 8 })
const number = fc.double({ noNaN: true, noDefaultInfinity: true })
const label = fc.record({ name: text, color: text, description: text }, { requiredKeys: ['name'] })

/** Valid issue documents. */
export const documents: fc.Arbitrary<unknown> = fc.array(issuesOf({ number, id: number, text, time: times, label }), {
  maxLength: 4,
})

interface Change {
  readonly where: readonly number[]
  readonly to: unknown
  readonly name: string | undefined
}

const names = fc.constantFrom('', ...'foreignindex name title labels a/b m~n __proto__ constructor toString'.split(' '))
const values = fc.oneof(
  fc.constantFrom(null, true, 0, 1.5, '', 'open', 'Closed', '2024-02-29', '2023-02-29T00:00:00Z', Number.NaN, 1 / 0),
  fc.jsonValue({ maxDepth: 2 }),
  times,
)
const changes: fc.Arbitrary<Change> = fc.record({
  where: fc.array(fc.nat(20), { maxLength: 5 }),
  to: fc.oneof({ arbitrary: values, weight: 3 }, fc.constant(GONE)),
  name: fc.option(names, { nil: undefined, freq: 2 }),
})

/** Issue documents with a few changes anywhere: most are no longer valid. */
export const changedDocuments: fc.Arbitrary<unknown> = fc
  .tuple(documents, fc.array(changes, { minLength: 1, maxLength: 4 }))
  .map(([document, list]) => list.reduce((changed, change) => changeAt(changed, change.where, change), document))
  .filter((document) => document !== GONE)

/** Goes down by the numbers as far as there is a way, and makes the change there. */
function changeAt(value: unknown, [step, ...rest]: readonly number[], change: Change): unknown {
  const isList = Array.isArray(value)
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : []
  if (step === undefined || entries.length === 0) {
    const { to, name } = change
    const isObject = typeof value === 'object' && value !== null && !isList
    return name === undefined || !isObject || to === GONE ? to : Object.fromEntries([...entries, [name, to]])
  }

  const changed = entries
    .map(([key, inner], at) => [key, at === step % entries.length ? changeAt(inner, rest, change) : inner] as const)
    .filter(([, inner]) => inner !== GONE)
  return isList ? changed.map(([, inner]) => inner) : Object.fromEntries(changed)
}
