import { hasProperties, listOf, objectOf } from './foreign.ts'

// What people have of a tracker in JSON and what is not read: it is named once, with what to do.

const DOCUMENT = 'write its issues as an issue document (docs/exchange.md, Records)'

const FORMS: readonly (readonly [isIt: (record: unknown) => boolean, what: string])[] = [
  [(record) => isOfJira(record) || isOfJira(firstOf(record, 'issues')), `issues of Jira: ${DOCUMENT}`],
  [(record) => hasProperties(firstOf(record, 'projects'), 'issues'), `an export of Jira: ${DOCUMENT}`],
  [(record) => hasProperties(record, 'fossil', 'payload'), `a report of Fossil: ${DOCUMENT}`],
  [
    (record) => hasProperties(record, 'data') || hasProperties(record, 'nodes'),
    'an answer of GraphQL: fetch the lists of the REST API, or use gh issue list --json (docs/exchange.md, Sources)',
  ],
]

/** Returns why a list with this first record is not read. Undefined: it is not known. */
export function refusalOfRecord(record: unknown): string | undefined {
  const [, what] = FORMS.find(([isIt]) => isIt(record)) ?? []
  return what && `expected a list that can be read, not ${what}`
}

function isOfJira(record: unknown): boolean {
  return hasProperties(record, 'key', 'fields')
}

function firstOf(record: unknown, list: string): unknown {
  return listOf(objectOf(record)[list])[0]
}
