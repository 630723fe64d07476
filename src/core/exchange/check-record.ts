import { isObject } from '../../schema/arguments.ts'
import { isDateTime } from '../../schema/date-time.ts'
import type { ExchangeRecord } from '../../schema/issue-record.ts'
import type { Violation } from '../../schema/violation.ts'

type Fault = Pick<Violation, 'code' | 'message'>

const NO_NUMBER: Fault = { code: 'integer', message: 'expected an integer from 1 to 9007199254740991' }
// A larger integer has been rounded when it was read.
const NO_ID: Fault = { code: 'integer', message: 'expected an integer from -9007199254740991 to 9007199254740991' }
const NO_TIME: Fault = { code: 'date_time', message: 'expected an RFC 3339 date-time' }
const NUL: Fault = { code: 'nul', message: 'expected a string without NUL, which some databases cannot store' }
const HALF: Fault = { code: 'surrogate', message: 'expected well-formed Unicode, without half of a surrogate pair' }

/** Without these properties, a record of each kind can be neither found nor compared. */
const REQUIRED: { readonly [K in ExchangeRecord['kind']]: readonly string[] } = {
  label: ['name'],
  milestone: ['title'],
  issue: ['number', 'created', 'updated'],
  comment: ['issue_number', 'created', 'updated'],
}

/**
 * Returns why a record cannot be imported: what an import needs beyond the schemas. Source: docs/behaviour.md, Exchange
 *
 * @returns violations whose pointers begin at the record
 */
export function violationsOf(record: ExchangeRecord): readonly Violation[] {
  const content: unknown = isObject(record) ? Reflect.get(record, record.kind) : undefined
  if (!isObject(content) || !Object.hasOwn(REQUIRED, record.kind)) {
    return [{ pointer: '', code: 'type', message: 'expected a label, a milestone, an issue or a comment' }]
  }
  const missing = REQUIRED[record.kind].filter((name) => (Reflect.get(content, name) ?? null) === null)
  return missing.length === 0
    ? violationsIn('', content)
    : missing.map((name) => ({ pointer: `/${name}`, code: 'required', message: `expected the property ${name}` }))
}

/** The pointers are made on the way back: most records have nothing to point at. */
function violationsIn(name: string, value: unknown): readonly Violation[] {
  const fault = faultOf(name, value)
  if (fault !== undefined) return [{ pointer: '', ...fault }]
  if (!isObject(value)) return []

  const violations: Violation[] = []
  for (const [inner, each] of Object.entries(value)) {
    for (const found of violationsIn(inner, each)) violations.push({ ...found, pointer: `/${inner}${found.pointer}` })
  }
  return violations
}

/** Returns what is wrong with the value of a property, whatever kind of record has it. */
function faultOf(name: string, value: unknown): Fault | undefined {
  switch (name) {
    case 'number':
    case 'issue_number':
      return Number.isSafeInteger(value) && Number(value) >= 1 ? undefined : NO_NUMBER
    case 'poster_id':
    case 'user_id':
      return Number.isSafeInteger(value) ? undefined : NO_ID
    case 'created':
    case 'updated':
    case 'closed':
    case 'deadline':
      return value === undefined || value === null || (typeof value === 'string' && isDateTime(value))
        ? undefined
        : NO_TIME
    default:
      if (typeof value !== 'string') return undefined
      if (value.includes('\0')) return NUL
      return value.isWellFormed() ? undefined : HALF
  }
}
