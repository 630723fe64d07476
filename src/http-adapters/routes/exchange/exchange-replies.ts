import type { ImportCounts, ImportReport, InspectReport } from '../../../core/exchange/import-report.ts'
import type { IssueRecord, NotCarried } from '../../../schema/issue-record.ts'
import type { JsonSchema } from '../json-schema.ts'
import { listOf, refTo } from '../json-schema.ts'
import { jsonReply, jsonStreamReply, jsonType } from '../reply.ts'
import type { Reply } from '../route.ts'
import { documentsOf } from './exchange-inputs.ts'

/** 200 with the canonical document, sent while it is written. */
export const issueDocument: Reply<AsyncIterable<IssueRecord>> = {
  status: 200,
  description: 'the issues in ascending order of their numbers, one on each line',
  body: { type: jsonType, schema: listOf('IssueRecord') },
  headers: [],
  write: ({ settings, slots }, issues) =>
    jsonStreamReply(slots.exports.duringStream(documentsOf(settings).write(issues))),
}

/** 200 with what an import did, or would do. */
export const importReport: Reply<ReportParts> = {
  status: 200,
  description: 'what the import did, or would do',
  body: { type: jsonType, schema: refTo('ImportReport') },
  headers: [],
  write: (_exchange, parts) => jsonReply(importReportJson(parts)),
}

/** What a report consists of. */
export interface ReportParts {
  readonly dryRun: boolean
  readonly report: ImportReport | InspectReport
  /** What the document has and an exchange record has not. */
  readonly notCarried: readonly NotCarried[]
}

/** What an import did, or would do. */
export interface ImportReportJson {
  readonly dry_run: boolean
  readonly issues: ImportCounts
  readonly comments: ImportCounts
  readonly unknown_users: ImportReport['unknownUsers']
  readonly not_carried: readonly NotCarried[]
  /** Of a dry run. */
  readonly conflicts?: InspectReport['conflicts'] | undefined
}

function importReportJson({ dryRun, report, notCarried }: ReportParts): ImportReportJson {
  return {
    dry_run: dryRun,
    issues: report.issues,
    comments: report.comments,
    unknown_users: report.unknownUsers,
    not_carried: merged([...notCarried, ...report.notCarried]),
    conflicts: 'conflicts' in report ? report.conflicts : undefined,
  }
}

/** Adds up what has the same name. The first pointer stays. */
function merged(all: readonly NotCarried[]): readonly NotCarried[] {
  const byName = new Map<string, NotCarried>()
  for (const one of all) {
    const known = byName.get(one.what)
    byName.set(one.what, known === undefined ? one : { ...known, count: known.count + one.count })
  }
  return [...byName.values()]
}

const COUNT: JsonSchema = { type: 'integer', minimum: 0 }
const COUNTS: JsonSchema = {
  type: 'object',
  required: ['created', 'updated', 'unchanged', 'skipped'] satisfies (keyof ImportCounts)[],
  additionalProperties: false,
  properties: {
    created: COUNT,
    updated: { ...COUNT, description: 'replaced' },
    unchanged: { ...COUNT, description: 'exist and are the same' },
    skipped: { ...COUNT, description: 'exist, differ and were left' },
  } satisfies Record<keyof ImportCounts, JsonSchema>,
}

/** A total, and the first of a list. */
function firstOf(items: JsonSchema, description: string): JsonSchema {
  return {
    type: 'object',
    description,
    required: ['total', 'first'],
    additionalProperties: false,
    properties: { total: COUNT, first: { type: 'array', items } },
  }
}

/** The schema of `ImportReportJson`. */
export const importReportSchema: JsonSchema = {
  type: 'object',
  required: ['dry_run', 'issues', 'comments', 'unknown_users', 'not_carried'] satisfies (keyof ImportReportJson)[],
  additionalProperties: false,
  properties: {
    dry_run: { type: 'boolean', description: 'whether nothing was written' },
    issues: COUNTS,
    comments: COUNTS,
    unknown_users: firstOf(
      {
        type: 'object',
        required: ['name', 'count'],
        additionalProperties: false,
        properties: { name: { type: 'string' }, count: COUNT },
      },
      'the people without an account here, and the first hundred of them',
    ),
    not_carried: {
      type: 'array',
      description: 'what the document has and this host has no place for',
      items: {
        type: 'object',
        required: ['what', 'count', 'pointer'] satisfies (keyof NotCarried)[],
        additionalProperties: false,
        properties: {
          what: { type: 'string', description: 'a word such as `attachment`' },
          count: COUNT,
          pointer: { type: 'string', description: 'of the first' },
          file: { type: 'string' },
        } satisfies Record<keyof NotCarried, JsonSchema>,
      },
    },
    conflicts: firstOf(
      {
        type: 'object',
        required: ['pointer', 'number', 'reason'],
        additionalProperties: false,
        properties: {
          pointer: { type: 'string', description: 'of the record in the document' },
          offset: { type: 'integer', description: 'bytes before the record' },
          line: { type: 'integer', description: 'line of the record; the first is 1' },
          file: { type: 'string' },
          number: { type: 'integer', format: 'int64' },
          reason: { type: 'string', enum: ['differs', 'taken'] },
          property: { type: 'string', description: 'the first one that differs' },
        },
      },
      'of a dry run: the issues that would end the import, and the first hundred of them',
    ),
  } satisfies Record<keyof ImportReportJson, JsonSchema>,
}

const TEXT: JsonSchema = { type: 'string' }
const TIME: JsonSchema = { type: 'string', format: 'date-time' }

/** The schema of an issue in a document. Source: schema/issue.json */
export const issueRecordSchema: JsonSchema = {
  type: 'object',
  description: 'An issue of a document. What is optional and empty is left out.',
  required: [
    'number',
    'poster_id',
    'poster_name',
    'title',
    'content',
    'state',
    'is_locked',
    'created',
    'updated',
  ] satisfies (keyof IssueRecord)[],
  additionalProperties: false,
  properties: {
    number: { type: 'integer', format: 'int64', description: 'unique in the repository' },
    poster_id: { type: 'integer', format: 'int64' },
    poster_name: { ...TEXT, description: 'name of the author' },
    poster_email: { ...TEXT, description: 'shown to admins of the repository only' },
    title: TEXT,
    content: { ...TEXT, description: 'the text, in Markdown' },
    ref: { ...TEXT, description: 'target branch' },
    milestone: { ...TEXT, description: 'title of the milestone' },
    state: { type: 'string', enum: ['closed', 'open'] },
    is_locked: { type: 'boolean' },
    created: TIME,
    updated: TIME,
    closed: { type: ['string', 'null'], format: 'date-time' },
    labels: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'color'],
        additionalProperties: false,
        properties: { name: TEXT, color: { ...TEXT, description: 'six hexadecimal digits' }, description: TEXT },
      },
    },
    reactions: {
      type: 'array',
      items: {
        type: 'object',
        required: ['user_id', 'content'],
        additionalProperties: false,
        properties: { user_id: { type: 'integer', format: 'int64' }, user_name: TEXT, content: TEXT },
      },
    },
    assignees: { type: 'array', items: TEXT, description: 'names of users' },
  } satisfies Record<keyof IssueRecord, JsonSchema>,
}
