import fc from 'fast-check'
import type { IssueRecord, LabelRecord } from '../../../src/schema/schema.ts'

/** Characters of every plane, and those that databases, languages and shells take for something else. */
export const character: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...'\'"\\;%_$?:@`{}\r\n\t\u2028\u2029\u0085\u007f\ufeff\ufffe\uffff\u0001\u{1f600}\u{10ffff}'),
  fc.integer({ min: 1, max: 0xd7ff }).map((code) => String.fromCodePoint(code)),
  fc.integer({ min: 0xe000, max: 0x10ffff }).map((code) => String.fromCodePoint(code)),
)
const text = fc.oneof(
  fc.array(character, { maxLength: 30 }).map((characters) => characters.join('')),
  fc.constantFrom("'); drop table host_issues; --", 'null', '', ' ', '\r\n', '\\u0000', '%s %n', '"', "''", '🏳️‍🌈'),
)
const id = fc.oneof(fc.maxSafeInteger(), fc.integer({ min: 0, max: 9 }))
const time = fc
  .tuple(fc.date({ min: new Date('0000-01-02'), max: new Date('9999-12-30'), noInvalidDate: true }), fc.nat(2))
  .map(
    ([at, form]) =>
      [at.toISOString(), at.toISOString().replace(/[.]\d+Z/, 'Z'), `${at.toISOString().slice(0, -1)}-05:30`][form] ??
      '',
  )

/** A repository has one label of each name. */
const labels: fc.Arbitrary<readonly LabelRecord[]> = fc.uniqueArray(
  fc.record({ name: text, color: text, description: text }, { requiredKeys: ['name'] }),
  { minLength: 1, maxLength: 12, selector: ({ name }) => name },
)

function issues(known: readonly LabelRecord[]): fc.Arbitrary<IssueRecord[]> {
  const number = fc.oneof(
    fc.integer({ min: 1, max: 500 }),
    fc.maxSafeNat().map((large) => Math.max(1, large)),
  )
  const issue = issuesOf({ number, id, text, time, label: fc.constantFrom(...known) })
  return fc.uniqueArray(issue, { minLength: 150, maxLength: 250, selector: (one) => one.number })
}

/** What issues are generated from. */
interface Parts {
  readonly number: fc.Arbitrary<number>
  readonly id: fc.Arbitrary<number>
  readonly text: fc.Arbitrary<string>
  readonly time: fc.Arbitrary<string>
  readonly label: fc.Arbitrary<LabelRecord>
}

/** Issues with any of the properties that a record may have. */
export function issuesOf({ number, id, text, time, label }: Parts): fc.Arbitrary<IssueRecord> {
  const reaction = fc.record({ user_id: id, user_name: text, content: text }, { requiredKeys: ['user_id', 'content'] })
  const required = {
    ...{ number, poster_id: id, poster_name: text, title: text, content: text },
    ...{ state: fc.constantFrom('open' as const, 'closed' as const), is_locked: fc.boolean() },
    ...{ created: time, updated: time },
  }
  const optional = {
    ...{ poster_email: text, ref: text, milestone: text, closed: fc.option(time) },
    labels: fc.array(label, { maxLength: 4 }),
    reactions: fc.array(reaction, { maxLength: 3 }),
    assignees: fc.array(text, { maxLength: 3 }),
  }
  return fc
    .tuple(fc.record(required), fc.record(optional, { requiredKeys: [] }))
    .map(([always, sometimes]) => ({ ...always, ...sometimes }))
}

/** A generated document, the same in every run; its largest text has 3 MB. */
export function generatedDocument(): IssueRecord[] {
  const [document = []] = fc.sample(labels.chain(issues), { numRuns: 1, seed: 14 })
  const [first, second] = document
  if (first === undefined || second === undefined) throw new TypeError('the document is empty')
  first.content = '\u{1f680}å\r\n"\\\u2028'.repeat(200_000)
  second.created = '9999-12-31T23:59:59-05:00'
  return document
}
