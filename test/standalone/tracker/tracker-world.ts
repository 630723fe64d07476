import type {
  Caller,
  CommentRecord,
  ForeignUser,
  IncomingBatch,
  IncomingComment,
  IncomingIssue,
  IssueQuery,
  IssueRecord,
} from '../../../src/index.ts'
import type { StandaloneUser } from '../../../src/standalone/host-ports.ts'
import type { HostDatabase } from '../../../src/standalone/host-store/host-database.ts'
import type { HostStore } from '../../../src/standalone/host-store/host-store.ts'
import { SqlIssueTracker } from '../../../src/standalone/host-store/sql-issue-tracker.ts'
import { loadedStore } from '../host-store/loaded-store.ts'

/** The world of ../world.ts in a database, and its tracker. */
export interface TrackerWorld {
  readonly store: HostStore
  /** The id of an issue of the first repository. */
  idOf(number: number): Promise<string>
  issues(query: IssueQuery, actor?: Caller<StandaloneUser>): Promise<readonly object[]>
  comments(numbers: readonly number[], actor?: Caller<StandaloneUser>): Promise<readonly CommentRecord[]>
  findUsers(users: readonly ForeignUser[]): Promise<readonly (string | undefined)[]>
  labelsAndMilestones(): Promise<object>
  /** Writes a batch in a transaction of the storage; `afterwards` runs before the commit. */
  write(batch: Partial<IncomingBatch>, actor?: Caller<StandaloneUser>, afterwards?: () => void): Promise<void>
  /** Runs a statement of the host. */
  run(sql: string): Promise<readonly object[]>
}

/** Loads the world into a database. */
export async function trackerWorld<Tx>(database: HostDatabase<Tx>): Promise<TrackerWorld> {
  const store = await loadedStore(database)
  const tracker = new SqlIssueTracker(database)
  return {
    store,
    idOf: async (number) => String((await store.findIssue('1', number))?.id),
    issues: async (query, actor = 'system') => tracker.issues(query, { actor }),
    comments: async (numbers, actor = 'system') => tracker.comments({ repositoryId: '1', numbers }, { actor }),
    findUsers: async (users) => tracker.findUsers(users, { actor: 'system' }),
    labelsAndMilestones: async () => tracker.labelsAndMilestones({ repositoryId: '1' }, { actor: 'system' }),
    async write(batch, actor = 'system', afterwards = () => undefined) {
      const whole = { repositoryId: '1', labels: [], milestones: [], create: [], update: [], comments: [], ...batch }
      await database.storage.issueImports.update(
        { repositoryId: whole.repositoryId },
        {
          expectedEpoch: undefined,
          prepare(_state: undefined, transaction: Tx) {
            const written = tracker.write(whole, { actor, transaction })
            return written instanceof Promise ? written.then(() => void afterwards()) : void afterwards()
          },
          decide: (state: undefined) => ({ state, events: [], result: undefined }),
          by: { at: () => new Date(), actorId: null },
        },
      )
    },
    run: async (sql) => database.rows<object>({ sql, parameters: [], returnsRows: /^select/.test(sql) }),
  }
}

/** An issue with everything that a record may have. */
export const FULL: IssueRecord = {
  number: 40,
  poster_id: 901,
  poster_name: 'Zoë ☃',
  poster_email: 'zoe@example.com',
  title: "Robert'); drop table host_issues;--",
  content: 'a\u2028b\r\nc\t"\\u0041" \u0001\u001f \u{1f600}\u{10ffff}\u{20000} \ufffe \ud7ff\ue000 %s $1 ? :a',
  ref: 'refs/heads/next',
  milestone: ' 1.0 ',
  state: 'open',
  is_locked: true,
  created: '1969-12-31T23:59:59.999Z',
  updated: '2038-01-19T03:14:08Z',
  closed: '2020-02-29T12:00:00.120Z',
  labels: [
    { name: 'bug', color: 'ee0701', description: 'Broken' },
    { name: 'Bug', color: 'x'.repeat(300) },
    { name: 'bug ', description: 'With a blank' },
    { name: 'bug', color: 'ee0701', description: 'Broken' },
  ],
  reactions: [
    { user_id: -1, content: '+1' },
    { user_id: Number.MAX_SAFE_INTEGER, user_name: 'Zoë', content: '\u{1f389}' },
    { user_id: -1, content: '+1' },
  ],
  assignees: ['olga', 'unknown-user', 'olga'],
}

/** An issue as the exchange passes it. */
export function incoming(record: IssueRecord, accounts: Partial<IncomingIssue> = {}): IncomingIssue {
  return {
    record,
    posterId: null,
    assigneeIds: (record.assignees ?? []).map(() => null),
    reactionUserIds: (record.reactions ?? []).map(() => null),
    createdAt: new Date(record.created),
    updatedAt: new Date(record.updated),
    closedAt: record.closed ? new Date(record.closed) : null,
    ...accounts,
  }
}

/** A comment as the exchange passes it. */
export function comment(number: number, content: string, change: Partial<CommentRecord> = {}): IncomingComment {
  const record: CommentRecord = {
    issue_number: number,
    poster_id: 902,
    poster_name: 'yan',
    poster_email: 'yan@example.com',
    created: '2021-01-01T00:00:00Z',
    updated: '2021-01-01T00:00:00Z',
    content,
    ...change,
  }
  return {
    record,
    posterId: null,
    reactionUserIds: (record.reactions ?? []).map(() => null),
    createdAt: new Date(record.created),
    updatedAt: new Date(record.updated),
  }
}

/** The least that an issue has. */
export function plain(number: number, change: Partial<IssueRecord> = {}): IssueRecord {
  return {
    number,
    poster_id: 1,
    poster_name: 'x',
    title: `Number ${number}`,
    content: '',
    state: 'open',
    is_locked: false,
    created: '2020-01-01T00:00:00Z',
    updated: '2020-01-01T00:00:00Z',
    ...change,
  }
}
