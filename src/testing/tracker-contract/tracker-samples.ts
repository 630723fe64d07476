import assert from 'node:assert/strict'
import { canonicalIssue } from '../../exchange/exchange.ts'
import type {
  Actor,
  Caller,
  CommentRecord,
  ExchangeRecord,
  ImportOptions,
  ImportRequest,
  IncomingBatch,
  IncomingIssue,
  IssueRecord,
  PortContext,
} from '../../index.ts'
import type { TrackerHost } from './tracker-host.ts'

/** An issue with the required properties, and those that are given. */
export function sampleIssue(number: number, given: Partial<IssueRecord> = {}): IssueRecord {
  return {
    number,
    poster_id: 7,
    poster_name: 'ada',
    title: `Issue ${number}`,
    content: 'It crashes.',
    state: 'open',
    is_locked: false,
    created: '2024-01-02T03:04:05Z',
    updated: '2024-02-03T04:05:06Z',
    ...given,
  }
}

/** A comment with the required properties, and those that are given. */
export function sampleComment(issue: number, given: Partial<CommentRecord> = {}): CommentRecord {
  return {
    issue_number: issue,
    poster_id: 8,
    poster_name: 'grace',
    created: '2024-03-04T05:06:07Z',
    updated: '2024-03-05T05:06:07Z',
    content: 'Seen here too.',
    ...given,
  }
}

/** Imports records as the host itself. */
export async function importAll<A extends Actor, Tx>(
  { forge, repositoryId }: TrackerHost<A, Tx>,
  records: ImportRequest['records'],
  options: ImportOptions = {},
): Promise<void> {
  await forge.exchange.import('system', { repositoryId, records }, options)
}

/** Returns the canonical forms of all issues. */
export async function exported<A extends Actor, Tx>(host: TrackerHost<A, Tx>): Promise<readonly IssueRecord[]> {
  return (await exportedRecords(host)).flatMap((one) => (one.kind === 'issue' ? [canonicalIssue(one.issue)] : []))
}

/** Returns everything that an export has. */
export async function exportedRecords<A extends Actor, Tx>({
  forge,
  repositoryId,
}: TrackerHost<A, Tx>): Promise<readonly ExchangeRecord[]> {
  const records: ExchangeRecord[] = []
  for await (const record of forge.exchange.exportAll('system', repositoryId)) records.push(record)
  return records
}

/** A batch that creates one issue with a label and a milestone. */
export function batchOf(repositoryId: string, record: IssueRecord): IncomingBatch {
  const incoming: IncomingIssue = {
    record,
    posterId: null,
    assigneeIds: [],
    reactionUserIds: [],
    createdAt: new Date(record.created),
    updatedAt: new Date(record.updated),
    closedAt: null,
  }
  return {
    repositoryId,
    labels: record.labels ?? [],
    milestones: [],
    labelUpdates: [],
    milestoneUpdates: [],
    create: [incoming],
    update: [],
    comments: [],
    commentUpdates: [],
  }
}

const TIMES = ['created', 'updated', 'closed', 'deadline']

/**
 * Throws unless records are those that were written: at the same instants, with what a host may add to a label that came
 * without a color, and without what the host lacks.
 */
export function mustReturn(
  { lacks = [] }: { readonly lacks?: TrackerHost<never, never>['lacks'] },
  found: readonly object[],
  written: readonly object[],
): void {
  const bare = new Set(written.flatMap((one) => ('labels' in one ? namesWithoutColor(one.labels) : [])))
  const left = new Set([
    ...(lacks.includes('milestones') ? ['milestone'] : []),
    ...(lacks.includes('reactions') ? ['reactions'] : []),
  ])
  const comparable = (record: object): unknown =>
    JSON.parse(
      JSON.stringify(record, (key, value: unknown) => {
        if (left.has(key) || value === null || (Array.isArray(value) && value.length === 0)) return undefined
        if (TIMES.includes(key) && typeof value === 'string') return new Date(value).toISOString()
        const isBare = typeof value === 'object' && 'name' in value && bare.has(value.name)
        return isBare ? { ...value, color: undefined } : value
      }),
    )
  assert.deepEqual(found.map(comparable), written.map(comparable))
}

function namesWithoutColor(labels: unknown): readonly unknown[] {
  return Array.isArray(labels) ? labels.filter((label) => !label.color).map(({ name }) => name) : []
}

/** A label. */
export const BUG = { name: 'bug', color: 'd73a4a', description: 'It does not work.' }
/** Characters of each plane of Unicode that has any. */
export const EVERY_PLANE = 'é \u{1F600} \u{20000} \u{E0001} \u{F0000} \u{10FFFD}'
const TEXTS = [
  EVERY_PLANE,
  'a\r\nb\rc\n',
  'a\u2028b\u2029c',
  " '; drop table issue; -- \\ %s $1 ?",
  ' spaces \t',
  'x'.repeat(300_000),
]

/** An issue with every property. */
export const FULL: IssueRecord = sampleIssue(7, {
  ref: 'refs/heads/main',
  milestone: '1.0',
  state: 'closed',
  is_locked: true,
  created: '2011-12-31T23:59:59.123Z',
  closed: '2024-02-03T04:05:06Z',
  labels: [BUG, { name: 'triage' }],
  reactions: [{ user_id: 8, user_name: 'grace', content: '+1' }],
  assignees: ['ada', 'no-such-user'],
})

/** A comment by someone who is no user any more. */
export const COMMENT_OF_FORMER: Extract<ExchangeRecord, { readonly kind: 'comment' }> = {
  kind: 'comment',
  comment: sampleComment(2, {
    poster_name: 'formerly',
    reactions: [{ user_id: 9, user_name: 'formerly', content: '+1' }],
  }),
}

/** Issues that an import keeps as they are. */
export const KEPT: readonly (readonly [name: string, issues: readonly IssueRecord[]])[] = [
  ['an issue is returned with every property that was written', [FULL]],
  ['an issue without the optional properties is returned without them', [sampleIssue(1)]],
  [
    'texts are returned as they were written',
    TEXTS.map((text, index) => sampleIssue(index + 1, { title: text.slice(0, 200), content: text })),
  ],
]

/** The context of a call by the host itself. */
export function contextIn<A extends Actor, Tx>(transaction?: Tx): PortContext<Caller<A>, Tx> {
  return { actor: 'system', transaction }
}

/** Returns the numbers of the issues that the tracker returns. */
export async function numbersIn<A extends Actor, Tx>(
  { tracker, repositoryId }: TrackerHost<A, Tx>,
  query: { readonly after: number; readonly limit: number } | { readonly numbers: readonly number[] },
  transaction?: Tx,
): Promise<readonly number[]> {
  const issues = await tracker.issues({ repositoryId: String(repositoryId), ...query }, contextIn(transaction))
  return issues.map(({ number }) => number)
}

/** Returns records as texts, in an order that does not depend on that of the host, without what is empty. */
export function sorted(records: readonly object[] = []): readonly string[] {
  const says = (value: unknown): boolean => value !== '' && value !== null && JSON.stringify(value) !== '[]'
  return records
    .map((one) =>
      JSON.stringify(
        Object.entries(one)
          .filter(([, value]) => says(value))
          .sort(),
      ),
    )
    .sort()
}
