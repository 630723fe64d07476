import { bareIssue, fullIssue } from './sample-issue.ts'

const A_DATE_TIME = 'expected an RFC 3339 date-time such as 2024-02-29T08:30:00Z'
const ISSUE_NAMES =
  'number, poster_id, poster_name, poster_email, title, content, ref, milestone, state, is_locked, created, updated, closed, labels, reactions, assignees'

/** Documents that are valid. */
export const validDocuments: readonly (readonly [title: string, document: unknown])[] = [
  ['an empty list', []],
  ['the required properties alone', [bareIssue]],
  ['every property', [fullIssue]],
  ['empty lists in an issue', [{ ...bareIssue, labels: [], reactions: [], assignees: [] }]],
  ['null for the time of closing', [{ ...bareIssue, closed: null }]],
  ['an open issue that was closed once', [{ ...bareIssue, closed: '2024-03-01T10:00:00Z' }]],
  ['empty texts', [{ ...bareIssue, poster_name: '', title: '', content: '', ref: '', milestone: '' }]],
  ['numbers that are not integers', [{ ...bareIssue, number: 1.5, poster_id: -0 }]],
  ['numbers beyond 2^53', [{ ...bareIssue, number: 2 ** 53 + 2, poster_id: -1e300 }]],
  ['the same issue twice', [bareIssue, bareIssue]],
  ['the same assignee twice', [{ ...bareIssue, assignees: ['ada', 'ada'] }]],
  ['a leap second', [{ ...bareIssue, created: '1990-12-31T23:59:60Z' }]],
  ['a NUL and a lone surrogate in a text', [{ ...bareIssue, title: '\u0000\ud800' }]],
]

type Fault = readonly [pointer: string, code: string, message: string]
type InvalidDocument = readonly [title: string, document: unknown, faults: readonly Fault[]]

/** Documents that are not, with every violation in the order it is reported. */
export const invalidDocuments: readonly InvalidDocument[] = [
  ['undefined', undefined, [['', 'type', 'expected an array of issues']]],
  ['null', null, [['', 'type', 'expected an array of issues']]],
  ['one issue without its list', bareIssue, [['', 'type', 'expected an array of issues']]],
  ['the text of a document', JSON.stringify([bareIssue]), [['', 'type', 'expected an array of issues']]],
  ['null in place of an issue', [bareIssue, null], [['/1', 'type', 'expected an issue object']]],
  ['a list in place of an issue', [[bareIssue]], [['/0', 'type', 'expected an issue object']]],
  ['a hole in place of an issue', withHole(bareIssue), [['/0', 'type', 'expected an issue object']]],
  [
    'a number alone',
    [{ number: 7 }],
    [
      ['/0/poster_id', 'required', 'missing: expected a finite number'],
      ['/0/poster_name', 'required', 'missing: expected a string'],
      ['/0/title', 'required', 'missing: expected a string'],
      ['/0/content', 'required', 'missing: expected a string'],
      ['/0/state', 'required', 'missing: expected "closed" or "open"'],
      ['/0/is_locked', 'required', 'missing: expected true or false'],
      ['/0/created', 'required', `missing: ${A_DATE_TIME}`],
      ['/0/updated', 'required', `missing: ${A_DATE_TIME}`],
    ],
  ],
  ['a number as text', [{ ...bareIssue, number: '7' }], [['/0/number', 'type', 'expected a finite number']]],
  [
    'infinity',
    [{ ...bareIssue, poster_id: JSON.parse('1e400') }],
    [['/0/poster_id', 'type', 'expected a finite number']],
  ],
  ['NaN', [{ ...bareIssue, number: Number.NaN }], [['/0/number', 'type', 'expected a finite number']]],
  ['a big integer', [{ ...bareIssue, number: 7n }], [['/0/number', 'type', 'expected a finite number']]],
  ['a title that is a number', [{ ...bareIssue, title: 123 }], [['/0/title', 'type', 'expected a string']]],
  ['null for a milestone', [{ ...bareIssue, milestone: null }], [['/0/milestone', 'type', 'expected a string']]],
  ['another state', [{ ...bareIssue, state: 'Open' }], [['/0/state', 'choice', 'expected "closed" or "open"']]],
  ['a lock that is text', [{ ...bareIssue, is_locked: 'yes' }], [['/0/is_locked', 'type', 'expected true or false']]],
  ['a date alone', [{ ...bareIssue, created: '2024-02-29' }], [['/0/created', 'date_time', A_DATE_TIME]]],
  ['a time that is a Date', [{ ...bareIssue, updated: new Date(0) }], [['/0/updated', 'type', A_DATE_TIME]]],
  ['an empty time of closing', [{ ...bareIssue, closed: '' }], [['/0/closed', 'date_time', `${A_DATE_TIME}, or null`]]],
  ['a closing that is true', [{ ...bareIssue, closed: true }], [['/0/closed', 'type', `${A_DATE_TIME}, or null`]]],
  [
    'null for each list',
    [{ ...bareIssue, labels: null, reactions: null, assignees: null }],
    [
      ['/0/labels', 'type', 'expected an array of labels'],
      ['/0/reactions', 'type', 'expected an array of reactions'],
      ['/0/assignees', 'type', 'expected an array of user names'],
    ],
  ],
  [
    'faults in the lists',
    [
      {
        ...bareIssue,
        labels: [{ name: 'bug' }, 'bug', {}],
        reactions: [{ user_id: '4', content: '+1' }],
        assignees: ['ada', null],
      },
    ],
    [
      ['/0/labels/1', 'type', 'expected a label object'],
      ['/0/labels/2/name', 'required', 'missing: expected a string'],
      ['/0/reactions/0/user_id', 'type', 'expected a finite number'],
      ['/0/assignees/1', 'type', 'expected a string'],
    ],
  ],
  [
    'a hole in a list',
    [{ ...bareIssue, assignees: withHole('ada') }],
    [['/0/assignees/0', 'type', 'expected a string']],
  ],
  [
    'unknown properties',
    [{ ...bareIssue, foreignindex: 7, 'a/b~c': 1, '': 2, labels: [{ name: 'bug', exclusive: false }] }],
    [
      ['/0/foreignindex', 'unknown_property', `unknown property, expected only ${ISSUE_NAMES}`],
      ['/0/a~1b~0c', 'unknown_property', `unknown property, expected only ${ISSUE_NAMES}`],
      ['/0/', 'unknown_property', `unknown property, expected only ${ISSUE_NAMES}`],
      ['/0/labels/0/exclusive', 'unknown_property', 'unknown property, expected only name, color, description'],
    ],
  ],
]

/** A list whose first element is not there, followed by this one. */
function withHole(element: unknown): readonly unknown[] {
  const list = [element, element]
  delete list[0]
  return list
}

const VAST = 200_000
const DEEP_LIST = `${'['.repeat(VAST)}${']'.repeat(VAST)}`
const DEEP_OBJECT = `${'{"object":'.repeat(VAST)}{}${'}'.repeat(VAST)}`
const vastListOf = (element: string): string => `[${new Array(VAST).fill(element).join()}]`

/**
 * Documents that would end a reader which recurses with their depth, or hands each element over as an argument; with the first
 * fault. They are texts of JSON, since what copies a value to another process recurses too.
 */
export const vastDocuments: readonly (readonly [title: string, text: string, pointer: string])[] = [
  ['a deep list as the document', DEEP_LIST, '/0'],
  ['a deep object as a label', issueWith('labels', `[${DEEP_OBJECT}]`), '/0/labels/0/name'],
  ['empty issues', vastListOf('{}'), '/0/number'],
  ['assignees that are numbers', issueWith('assignees', vastListOf('7')), '/0/assignees/0'],
  ['unknown names', `[{${Array.from({ length: VAST }, (_, at) => `"x${at}":${at}`).join()}}]`, '/0/number'],
]

function issueWith(property: string, value: string): string {
  const issue = Object.entries({ ...bareIssue, [property]: null })
  return `[{${issue.map(([name, own]) => `"${name}":${name === property ? value : JSON.stringify(own)}`).join()}}]`
}
