import { recordChecks } from '../../schema/documents/record-schemas.ts'
import { Unreadable } from '../documents/source-record.ts'
import { hasProperties, listOf, objectOf } from './foreign.ts'

// What people have of a tracker and what is not read: it is named once, with what to do.

const DOCUMENT = 'write its issues as an issue document (docs/exchange.md, Records)'
const LISTS = 'fetch the lists of the REST API (docs/exchange.md, Sources)'

const unpackWith = (command: string): string => `unpack it with ${command}, and give what was in it`

/** How texts begin. */
const TEXTS: readonly (readonly [beginning: RegExp, what: string])[] = [
  [/^\s*<(?:!doctype\s+)?html/i, `a web page, perhaps one to sign in: ${LISTS}`],
  [/^\s*</, `XML, such as that of Jira: ${DOCUMENT}`],
  [/^HTTP\//, 'the headers of an answer: fetch it without -i'],
  [/^[^[{\n]*\bissue key\b/i, `the CSV of Jira: ${DOCUMENT}`],
  [/^[^[{\n]*\bissue id"?,"?url\b/i, `the CSV of GitLab, which has no comments: export the project, or ${LISTS}`],
  [/^\W*id"?[,\t]"?summary\b/i, `a report of Trac: ${DOCUMENT}`],
  [/^(?:#|tkt_\w+)\t/, `a report of Fossil: ${DOCUMENT}`],
  [/^BZh[1-9]1AY/, `what bzip2 compressed: ${unpackWith('bunzip2')}`],
  [/^\xfd7zXZ/, `what xz compressed: ${unpackWith('unxz')}`],
  [/^\(\xb5\/\xfd/, `what zstd compressed: ${unpackWith('unzstd')}`],
  [/^7z\xbc\xaf'/, `an archive of 7z: ${unpackWith('7z x')}`],
  [/^Rar!/, `an archive of RAR: ${unpackWith('unrar x')}`],
  [/^PK\W\W/, `a zip, which is read from a file alone: ${unpackWith('unzip')}`],
  [/^.{257}ustar/s, `a tar, which is read from a file alone: ${unpackWith('tar -x')}`],
  [/^SQLite format 3/, `a database of SQLite, such as that of Trac or Fossil: ${DOCUMENT}`],
  [/^["\w][^[{\n]*[,;\t][^[{\n]*[,;\t]/, `a table, such as CSV: ${DOCUMENT}`],
]

const JIRA = `issues of Jira: ${DOCUMENT}`
const GRAPHQL = `an answer of GraphQL: use gh issue list --json, or ${LISTS}`

/** What is in JSON: the properties of a record, or of the first one in a list that it has. */
const FORMS: readonly (readonly [list: string, properties: readonly string[], what: string])[] = [
  ['', ['key', 'fields'], JIRA],
  ['issues', ['key', 'fields'], JIRA],
  ['projects', ['issues'], `an export of Jira: ${DOCUMENT}`],
  ['', ['fossil', 'payload'], `a report of Fossil: ${DOCUMENT}`],
  ['', ['total_count', 'items'], `a search of GitHub, which has a thousand results: ${LISTS}`],
  ['', ['pagelen', 'values'], 'a list of Bitbucket: export the tracker (docs/from-bitbucket.md)'],
  ['', ['data'], GRAPHQL],
  ['', ['nodes'], GRAPHQL],
]

/** Returns why a list with this first record is not read. Undefined: it may be a document. */
export function refusalOfRecord(record: unknown): string | undefined {
  const form = FORMS.find(([list, properties]) => {
    return hasProperties(list === '' ? record : listOf(objectOf(record)[list])[0], ...properties)
  })
  const what = form?.[2] ?? unlikeDocument(record)
  return what && `expected a list that can be read, not ${what}`
}

/** Describes a record that has no number, and has properties that no issue document has. Undefined for any other. */
function unlikeDocument(record: unknown): string | undefined {
  const isUnlike = [...recordChecks.issue.findings(record, [])].some(({ code }) => code === 'unknown_property')
  if (!isUnlike || hasProperties(record, 'number')) return undefined
  return `records with ${Object.keys(objectOf(record)).join(', ').slice(0, 100)}: ${DOCUMENT}`
}

/** Returns why a record is refused wherever it is in a list: it is the error of a forge. Undefined for any other. */
export function errorOfForge(record: unknown): string | undefined {
  const { number, id, message, error = message } = objectOf(record)
  if (typeof error !== 'string' || number !== undefined || id !== undefined) return undefined
  return `expected a list that can be read, not the error ${JSON.stringify(error)} of a forge`
}

/** Returns the fault of a source that begins with a text that is known. Undefined: it is not known. */
export function faultOfText(beginning: Uint8Array): Unreadable | undefined {
  const text = new TextDecoder('latin1').decode(beginning.subarray(0, 1024)).replace(/^ï»¿/, '')
  const [, what] = TEXTS.find(([form]) => form.test(text)) ?? []
  return what === undefined ? undefined : new Unreadable('json', `expected JSON, not ${what}`)
}
