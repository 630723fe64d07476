import { isObject } from '../../schema/arguments.ts'
import { isDateTime } from '../../schema/date-time.ts'
import type { Violation } from '../../schema/errors.ts'
import type {
  CommentRecord,
  ExchangeRecord,
  IssueRecord,
  LabelRecord,
  MilestoneRecord,
  ReactionRecord,
} from '../../schema/issue-record.ts'

type Find = (path: string, code: string, message: string) => void
type Check = (value: unknown, path: string, find: Find) => void

const text: Check = (value, path, find) => {
  if (typeof value !== 'string') find(path, 'type', 'expected a string')
  else if (value.includes('\0')) find(path, 'nul', 'expected a string without NUL, which some databases cannot store')
  else if (!value.isWellFormed()) {
    find(path, 'surrogate', 'expected well-formed Unicode, without half of a surrogate pair')
  }
}
const number = valueThat('integer', 'expected an integer from 1 to 9007199254740991', (value) => {
  return Number.isSafeInteger(value) && Number(value) >= 1
})
// A larger integer has been rounded when it was read.
const INTEGER = 'expected an integer from -9007199254740991 to 9007199254740991'
const integer = valueThat('integer', INTEGER, Number.isSafeInteger)
const flag = valueThat('type', 'expected true or false', (value) => typeof value === 'boolean')
const state = valueThat('choice', "expected 'open' or 'closed'", (value) => value === 'open' || value === 'closed')
const time = valueThat('date_time', 'expected an RFC 3339 date-time', (value) => {
  return typeof value === 'string' && isDateTime(value)
})

const label = { name: text, color: optional(text), description: optional(text) }
const reaction = objectOf<ReactionRecord>('a reaction', { user_id: integer, user_name: optional(text), content: text })

const author = { poster_id: integer, poster_name: text, poster_email: optional(text) }

/** What is checked of each kind of record, in the order of the violations. */
const RECORDS: { readonly [K in ExchangeRecord['kind']]: Check } = {
  label: objectOf<LabelRecord>('an object', label),
  milestone: objectOf<MilestoneRecord>('an object', {
    title: text,
    description: optional(text),
    state,
    deadline: optional(time, null),
    created: optional(time, null),
    updated: optional(time, null),
    closed: optional(time, null),
  }),
  issue: objectOf<IssueRecord>('an object', {
    number,
    ...author,
    title: text,
    content: text,
    ref: optional(text),
    milestone: optional(text),
    state,
    is_locked: flag,
    created: time,
    updated: time,
    closed: optional(time, null),
    labels: optional(listOf(objectOf<LabelRecord>('a label', label))),
    reactions: optional(listOf(reaction)),
    assignees: optional(listOf(text)),
  }),
  comment: objectOf<CommentRecord>('an object', {
    issue_number: number,
    ...author,
    content: text,
    created: time,
    updated: time,
    reactions: optional(listOf(reaction)),
  }),
}

/**
 * Returns why a record cannot be imported: what an import needs beyond the schemas, and what it would fail on if a host
 * passes records that nothing has validated. Source: docs/behaviour.md, Exchange
 *
 * @returns violations whose pointers begin at the record
 */
export function violationsOf(record: ExchangeRecord): readonly Violation[] {
  const violations: Violation[] = []
  const find: Find = (path, code, message) => violations.push({ pointer: path, code, message })
  const kind = record?.kind
  if (Object.hasOwn(RECORDS, kind)) RECORDS[kind](Reflect.get(record, kind), '', find)
  else find('', 'type', 'expected a label, a milestone, an issue or a comment')
  return violations
}

function valueThat(code: string, message: string, isValid: (value: unknown) => boolean): Check {
  return (value, path, find) => {
    if (!isValid(value)) find(path, code, message)
  }
}

/** @param nothing - what stands for a value that is not there, besides undefined */
function optional(check: Check, nothing?: null): Check {
  return (value, path, find) => {
    if (value !== undefined && value !== nothing) check(value, path, find)
  }
}

function listOf(check: Check): Check {
  return (list, path, find) => {
    if (!Array.isArray(list)) find(path, 'type', 'expected an array')
    else for (const [index, item] of list.entries()) check(item, `${path}/${index}`, find)
  }
}

function objectOf<Of>(what: string, checks: { readonly [K in keyof Required<Of>]: Check }): Check {
  const properties = Object.entries<Check>(checks)
  return (value, path, find) => {
    if (!isObject(value)) find(path, 'type', `expected ${what}`)
    else for (const [name, check] of properties) check(Reflect.get(value, name), `${path}/${name}`, find)
  }
}
