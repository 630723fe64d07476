import { issueRecord } from '../../world.ts'
import type { RouteRules } from '../access-rules.ts'
import type { Case } from './case.ts'

const EXPORT = '/repos/acme/rocket/issues/export'
const MEBIBYTE = 1024 * 1024
const IMPORT = '/repos/acme/rocket/issues/import'

const NONE = { created: 0, updated: 0, unchanged: 0, skipped: 0 }
const REPORT = { dry_run: false, issues: NONE, comments: NONE, unknown_users: { total: 0, first: [] }, not_carried: [] }

const documentOf = (...numbers: readonly number[]): object => numbers.map((number) => issueRecord(number))
/** What an export has when nothing was imported. */
const UNCHANGED = [EXPORT, documentOf(1, 2, 3, 4, 5)] as const
const withoutAddress = (number: number): object => ({ ...issueRecord(number), poster_email: undefined })

function textOf(...numbers: readonly number[]): string {
  return `[\n${numbers.map((number) => JSON.stringify(withoutAddress(number))).join(',\n')}\n]\n`
}

/** The issue exchange. */
export const exchangeCases: readonly Case[] = [
  {
    fact: 'an export is the canonical document, in which pull requests are not',
    ask: ['anonymous', 'GET', EXPORT],
    status: 200,
    expected: { text: textOf(1, 2, 3, 4, 5), headers: { 'content-type': 'application/json;charset=utf-8' } },
  },
  ...(['rita', 'stan'] as const).map(
    (who): Case => ({
      fact: `${who} sees no address in an export`,
      ask: [who, 'GET', EXPORT],
      status: 200,
      expected: { text: textOf(1, 2, 3, 4, 5) },
    }),
  ),
  ...(['ada', 'root'] as const).map(
    (who): Case => ({
      fact: `${who} sees addresses in an export`,
      ask: [who, 'GET', EXPORT],
      status: 200,
      expected: { json: [1, 2, 3, 4, 5].map((number) => issueRecord(number)) },
    }),
  ),
  { fact: 'HEAD of an export has no body', ask: ['ada', 'HEAD', EXPORT], status: 200, expected: { text: '' } },
  {
    fact: 'an import writes what is new, and leaves what is the same',
    ask: ['ada', 'POST', IMPORT, documentOf(5, 10, 11)],
    status: 200,
    expected: {
      json: {
        ...REPORT,
        issues: { ...NONE, created: 2, unchanged: 1 },
      },
    },
    after: [EXPORT, [1, 2, 3, 4, 5, 10, 11].map((number) => issueRecord(number))],
  },
  {
    fact: 'a dry run reports the same, and writes nothing',
    ask: ['ada', 'POST', `${IMPORT}?dry_run=true`, documentOf(5, 10, 11)],
    status: 200,
    expected: {
      json: {
        ...REPORT,
        dry_run: true,
        issues: { ...NONE, created: 2, unchanged: 1 },
        conflicts: { total: 0, first: [] },
      },
    },
    after: UNCHANGED,
  },
  {
    fact: 'a dry run reports conflicts',
    ask: ['ada', 'POST', `${IMPORT}?dry_run=true`, [issueRecord(1, { title: 'other' }), issueRecord(6)]],
    status: 200,
    expected: {
      json: {
        ...REPORT,
        dry_run: true,
        conflicts: {
          total: 2,
          first: [
            { pointer: '/0', offset: 1, line: 1, number: 1, reason: 'differs', property: 'title' },
            { pointer: '/1', offset: 211, line: 1, number: 6, reason: 'taken' },
          ],
        },
      },
    },
  },
  {
    fact: 'an issue that differs is 409, and is named',
    ask: ['ada', 'POST', IMPORT, [issueRecord(10), issueRecord(1, { title: 'other' })]],
    status: 409,
    expected: {
      code: 'IMPORT_CONFLICT',
      violations: ['/1'],
      message: 'issue 1 exists and differs in title: import with on_conflict=skip or on_conflict=update',
    },
  },
  {
    fact: 'an issue that differs is left if that is asked for',
    ask: ['ada', 'POST', `${IMPORT}?on_conflict=skip`, [issueRecord(1, { title: 'other' })]],
    status: 200,
    after: UNCHANGED,
  },
  {
    fact: 'an issue that differs is replaced if that is asked for',
    ask: ['ada', 'POST', `${IMPORT}?on_conflict=update`, [issueRecord(1, { title: 'other' })]],
    status: 200,
    after: [EXPORT, [issueRecord(1, { title: 'other' }), ...[2, 3, 4, 5].map((number) => issueRecord(number))]],
  },
  {
    fact: 'the number of a pull request is 409 in any case',
    ask: ['ada', 'POST', `${IMPORT}?on_conflict=update`, [issueRecord(6)]],
    status: 409,
    expected: { code: 'IMPORT_CONFLICT', violations: ['/0'] },
  },
  {
    fact: 'issues in YAML are imported',
    headers: { 'content-type': 'application/yaml' },
    ask: ['ada', 'POST', IMPORT, `- ${JSON.stringify(issueRecord(10))}\n`],
    status: 200,
    after: [EXPORT, [1, 2, 3, 4, 5, 10].map((number) => issueRecord(number))],
  },
  {
    fact: 'a document with mistakes is 422, and each is named',
    ask: ['ada', 'POST', IMPORT, [issueRecord(10, { title: 7 } as object), 5]],
    status: 422,
    expected: { code: 'INVALID_DOCUMENT', violations: ['/0/title'] },
    after: UNCHANGED,
  },
  {
    fact: 'a body that is not a document is 422',
    ask: ['ada', 'POST', IMPORT, 'not JSON'],
    status: 422,
    expected: { code: 'INVALID_DOCUMENT', violations: [''] },
  },
  ...[
    ['on_conflict=overwrite', '/on_conflict'],
    ['on_conflict=skip&on_conflict=update', '/on_conflict'],
    ['attribution=people', '/attribution'],
    ['dry_run=yes', '/dry_run'],
    ['dry_run=', '/dry_run'],
  ].map(
    ([query = '', pointer = '']): Case => ({
      fact: `an import with ${query} is 422`,
      ask: ['ada', 'POST', `${IMPORT}?${query}`, documentOf(10)],
      status: 422,
      expected: { code: 'INVALID_INPUT', violations: [pointer] },
      after: UNCHANGED,
    }),
  ),
  {
    fact: 'a site admin may attribute an import to accounts',
    ask: ['root', 'POST', `${IMPORT}?attribution=accounts`, documentOf(10)],
    status: 200,
    expected: { json: { ...REPORT, issues: { ...NONE, created: 1 } } },
  },
  ...(['ada', 'olga'] as const).map(
    (who): Case => ({
      fact: `${who}, an admin of the repository, may not attribute an import to accounts`,
      ask: [who, 'POST', `${IMPORT}?attribution=accounts&dry_run=true`, 'not JSON'],
      status: 403,
      expected: { code: 'FORBIDDEN' },
    }),
  ),
  {
    fact: 'an import that is too long is 413',
    world: { limits: { maxImportBytes: 300 } },
    ask: ['ada', 'POST', IMPORT, documentOf(10, 11)],
    status: 413,
    expected: { code: 'BODY_TOO_LARGE' },
  },
  {
    fact: 'a record that is too long is 422',
    world: { limits: { maxRecordBytes: 100 } },
    ask: ['ada', 'POST', IMPORT, documentOf(10)],
    status: 422,
    expected: { code: 'INVALID_DOCUMENT', violations: ['/0'] },
  },
  {
    fact: 'a record of almost 2 MiB is imported',
    ask: ['ada', 'POST', IMPORT, [issueRecord(10, { content: 'x'.repeat(2 * MEBIBYTE - 1000) })]],
    status: 200,
  },
  {
    fact: 'an item of YAML of more than 1 MiB is 422, whatever a record may have',
    world: { limits: { maxRecordBytes: 8 * MEBIBYTE } },
    headers: { 'content-type': 'application/yaml' },
    ask: ['ada', 'POST', IMPORT, `- ${JSON.stringify(issueRecord(10, { content: 'x'.repeat(MEBIBYTE) }))}\n`],
    status: 422,
    expected: { code: 'INVALID_DOCUMENT', violations: ['/0'] },
  },
  {
    fact: 'an issue named by a word is not a path of the exchange',
    ask: ['ada', 'POST', '/repos/acme/rocket/issues/export/pin'],
    status: 404,
    expected: { code: 'ISSUE_NOT_FOUND' },
  },
]

/** Who may do what. */
export const exchangeRules: RouteRules = {
  repoExportIssues: { asks: 'issues.export', needs: 'repository reader', statements: 8, answer: () => '200' },
  repoImportIssues: {
    asks: 'issues.import',
    needs: 'repository admin',
    statements: 3,
    bodies: ['[]', 'not JSON'],
    answer: ({ body }) => (body === '[]' ? '200' : '422 INVALID_DOCUMENT'),
  },
}
