import type { AskingMethod } from '../core/asking.ts'
import { methodsAbout } from '../core/asking.ts'
import type { RouteRules } from '../http-adapters/access-rules.ts'
import type { Case } from '../http-adapters/cases/case.ts'
import { refusal, served } from '../http-adapters/cases/case.ts'
import type { ServiceSection } from '../services.ts'
import { issueRecord } from '../world.ts'

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
const cases: readonly Case[] = [
  served('an export is the canonical document, in which pull requests are not', ['anonymous', 'GET', EXPORT], 200, {
    expected: { text: textOf(1, 2, 3, 4, 5), headers: { 'content-type': 'application/json;charset=utf-8' } },
  }),
  ...(['rita', 'stan'] as const).map(
    (who): Case =>
      served(`${who} sees no address in an export`, [who, 'GET', EXPORT], 200, {
        expected: { text: textOf(1, 2, 3, 4, 5) },
      }),
  ),
  ...(['ada', 'root'] as const).map(
    (who): Case =>
      served(`${who} sees addresses in an export`, [who, 'GET', EXPORT], 200, {
        expected: { json: [1, 2, 3, 4, 5].map((number) => issueRecord(number)) },
      }),
  ),
  served('HEAD of an export has no body', ['ada', 'HEAD', EXPORT], 200, { expected: { text: '' } }),
  served(
    'an import writes what is new, and leaves what is the same',
    ['ada', 'POST', IMPORT, documentOf(5, 10, 11)],
    200,
    {
      expected: { json: { ...REPORT, issues: { ...NONE, created: 2, unchanged: 1 } } },
      after: [EXPORT, [1, 2, 3, 4, 5, 10, 11].map((number) => issueRecord(number))],
    },
  ),
  served(
    'a dry run reports the same, and writes nothing',
    ['ada', 'POST', `${IMPORT}?dry_run=true`, documentOf(5, 10, 11)],
    200,
    {
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
  ),
  served(
    'a dry run reports conflicts',
    ['ada', 'POST', `${IMPORT}?dry_run=true`, [issueRecord(1, { title: 'other' }), issueRecord(6)]],
    200,
    {
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
  ),
  refusal(
    'an issue that differs is 409, and is named',
    ['ada', 'POST', IMPORT, [issueRecord(10), issueRecord(1, { title: 'other' })]],
    409,
    {
      code: 'IMPORT_CONFLICT',
      violations: ['/1'],
      message: 'issue 1 exists and differs in title: import with on_conflict=skip or on_conflict=update',
    },
  ),
  served(
    'an issue that differs is left if that is asked for',
    ['ada', 'POST', `${IMPORT}?on_conflict=skip`, [issueRecord(1, { title: 'other' })]],
    200,
    { after: UNCHANGED },
  ),
  served(
    'an issue that differs is replaced if that is asked for',
    ['ada', 'POST', `${IMPORT}?on_conflict=update`, [issueRecord(1, { title: 'other' })]],
    200,
    { after: [EXPORT, [issueRecord(1, { title: 'other' }), ...[2, 3, 4, 5].map((number) => issueRecord(number))]] },
  ),
  refusal(
    'the number of a pull request is 409 in any case',
    ['ada', 'POST', `${IMPORT}?on_conflict=update`, [issueRecord(6)]],
    409,
    { code: 'IMPORT_CONFLICT', violations: ['/0'] },
  ),
  served('issues in YAML are imported', ['ada', 'POST', IMPORT, `- ${JSON.stringify(issueRecord(10))}\n`], 200, {
    headers: { 'content-type': 'application/yaml' },
    after: [EXPORT, [1, 2, 3, 4, 5, 10].map((number) => issueRecord(number))],
  }),
  refusal(
    'a document with mistakes is 422, and each is named',
    ['ada', 'POST', IMPORT, [issueRecord(10, { title: 7 } as object), 5]],
    422,
    { code: 'INVALID_DOCUMENT', violations: ['/0/title'] },
    { after: UNCHANGED },
  ),
  refusal('a body that is not a document is 422', ['ada', 'POST', IMPORT, 'not JSON'], 422, {
    code: 'INVALID_DOCUMENT',
    violations: [''],
  }),
  ...[
    ['on_conflict=overwrite', '/on_conflict'],
    ['on_conflict=skip&on_conflict=update', '/on_conflict'],
    ['attribution=people', '/attribution'],
    ['dry_run=yes', '/dry_run'],
    ['dry_run=', '/dry_run'],
  ].map(
    ([query = '', pointer = '']): Case =>
      refusal(
        `an import with ${query} is 422`,
        ['ada', 'POST', `${IMPORT}?${query}`, documentOf(10)],
        422,
        { code: 'INVALID_INPUT', violations: [pointer] },
        { after: UNCHANGED },
      ),
  ),
  served(
    'a site admin may attribute an import to accounts',
    ['root', 'POST', `${IMPORT}?attribution=accounts`, documentOf(10)],
    200,
    { expected: { json: { ...REPORT, issues: { ...NONE, created: 1 } } } },
  ),
  ...(['ada', 'olga'] as const).map(
    (who): Case =>
      refusal(
        `${who}, an admin of the repository, may not attribute an import to accounts`,
        [who, 'POST', `${IMPORT}?attribution=accounts&dry_run=true`, 'not JSON'],
        403,
        'FORBIDDEN',
      ),
  ),
  refusal('an import that is too long is 413', ['ada', 'POST', IMPORT, documentOf(10, 11)], 413, 'BODY_TOO_LARGE', {
    world: { limits: { maxImportBytes: 300 } },
  }),
  refusal(
    'a record that is too long is 422',
    ['ada', 'POST', IMPORT, documentOf(10)],
    422,
    { code: 'INVALID_DOCUMENT', violations: ['/0'] },
    { world: { limits: { maxRecordBytes: 100 } } },
  ),
  served(
    'a record of almost 2 MiB is imported',
    ['ada', 'POST', IMPORT, [issueRecord(10, { content: 'x'.repeat(2 * MEBIBYTE - 1000) })]],
    200,
  ),
  refusal(
    'an item of YAML of more than 1 MiB is 422, whatever a record may have',
    ['ada', 'POST', IMPORT, `- ${JSON.stringify(issueRecord(10, { content: 'x'.repeat(MEBIBYTE) }))}\n`],
    422,
    { code: 'INVALID_DOCUMENT', violations: ['/0'] },
    { world: { limits: { maxRecordBytes: 8 * MEBIBYTE } }, headers: { 'content-type': 'application/yaml' } },
  ),
  refusal(
    'an issue named by a word is not a path of the exchange',
    ['ada', 'POST', '/repos/acme/rocket/issues/export/pin'],
    404,
    'ISSUE_NOT_FOUND',
  ),
]

/** Who may do what. */
const rules: RouteRules = {
  repoExportIssues: { asks: 'issues.export', needs: 'repository reader', statements: 7 },
  repoImportIssues: { asks: 'issues.import', needs: 'repository admin', statements: 3 },
}

const incoming = { repositoryId: 10, records: [] }
const named = { repositoryId: 10, people: {} }

const methods: readonly AskingMethod[] = [
  ...methodsAbout({ repositoryId: '10' }, 'REPOSITORY_NOT_FOUND', [
    ['exchange.import', 'issues.import', ({ exchange }, who) => exchange.import(who, incoming)],
    ['exchange.inspect', 'issues.import', ({ exchange }, who) => exchange.inspect(who, incoming)],
    [
      'exchange.reattribute',
      'issues.import',
      ({ exchange }, who) => exchange.reattribute(who, named),
      'issues.attribute',
    ],
    ['exchange.export', 'issues.export', ({ exchange }, who) => firstOf(exchange.export(who, 10))],
    ['exchange.exportAll', 'issues.export', ({ exchange }, who) => firstOf(exchange.exportAll(who, 10))],
  ]),
]

async function firstOf(records: AsyncIterable<unknown>): Promise<unknown> {
  return (await records[Symbol.asyncIterator]().next()).value
}

export const section: ServiceSection = { cases, rules, methods }
