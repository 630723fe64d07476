import type {
  CommentRecord,
  ExchangeRecord,
  IssueRecord,
  LabelRecord,
  ReactionRecord,
} from '../../schema/issue-record.ts'
import type { ConvertedBatch } from '../documents/converted-batch.ts'
import { ConversionState } from './conversion-state.ts'
import type { ForeignObject } from './foreign-object.ts'
import { hasProperties, readObject } from './foreign-object.ts'
import type { Conversion, Findings, FolderReading, ForgeFormat } from './forge-format.ts'
import { fileNamed, reportLinks, STATES } from './forge-format.ts'
import { NO_TIME } from './gitea-dump-records.ts'

/** What `gitea dump-repo` writes: a folder of YAML files. Its issues alone are a list. */
export const giteaDumpFormat: ForgeFormat = {
  name: 'gitea-dump',
  recognizes: (record) => hasProperties(record, 'number', 'foreignindex'),
  open: () => new DumpIssues(new ConversionState()),
  folder: { issuesFile: (names) => fileNamed(names, 'issue.yml'), read: readFolder },
}

const LABEL_WORDS = { exclusive: 'exclusive_label' }
const COMMENT_WORDS = { index: 'identifier' }
/** A text of Gitea links to an attachment by its id. */
const ATTACHMENT = /\/attachments\/[0-9a-f]{8}-[0-9a-f-]{27}/g

async function* readFolder(folder: FolderReading): AsyncGenerator<ConvertedBatch, void, void> {
  const issuesFile = fileNamed(folder.names, 'issue.yml') ?? 'issue.yml'
  const root = issuesFile.slice(0, -'issue.yml'.length)
  const state = new ConversionState()
  const issues = new DumpIssues(state)
  const unread = new Set(folder.names)
  const isUnread = (name: string): boolean => unread.delete(name)

  if (isUnread(`${root}label.yml`)) yield* folder.read(`${root}label.yml`, labelConversion(state))
  if (isUnread(`${root}milestone.yml`)) yield* folder.read(`${root}milestone.yml`, milestoneConversion(state))
  if (isUnread(issuesFile)) {
    for await (const batch of folder.read(issuesFile, issues)) {
      yield batch
      for (const name of issues.takeIndexes().map((index) => `${root}comments/${index}.yml`)) {
        if (isUnread(name)) yield* folder.read(name, commentConversion(state))
      }
    }
  }
  for (const name of unread) folder.leave(wordOfFile(name.slice(root.length)), name)
}

function wordOfFile(name: string): string {
  if (name.startsWith('comments/')) return 'comments'
  return name === 'pull_request.yml' || name.startsWith('reviews/') ? 'pull_request' : 'file'
}

/** Converts issues, and remembers the names of the files with their comments. */
class DumpIssues implements Conversion {
  readonly #state: ConversionState
  #lastIndex = 0
  #indexes: number[] = []

  constructor(state: ConversionState) {
    this.#state = state
  }

  convert(record: unknown, findings: Findings): readonly ExchangeRecord[] {
    const object = readObject(record, [], findings)
    if (object === undefined) return []

    const number = object.number('number')
    this.#lastIndex = object.has('foreignindex') ? object.number('foreignindex') : number
    object.take('foreignindex')
    if (this.#lastIndex !== number) findings.notCarried('identifier', ['foreignindex'])
    const issue = this.#issue(number, object, findings)
    object.reportRest({})
    return [{ kind: 'issue', issue }]
  }

  carried(records: readonly ExchangeRecord[]): void {
    this.#state.carried(records)
    this.#indexes.push(this.#lastIndex)
  }

  /** Returns the indexes of the issues that were carried since the last call. */
  takeIndexes(): readonly number[] {
    const indexes = this.#indexes
    this.#indexes = []
    return indexes
  }

  #issue(number: number, object: ForeignObject, findings: Findings): IssueRecord {
    const poster = posterOf(object)
    const content = object.textOrEmpty('content')
    reportLinks(ATTACHMENT, content, ['content'], findings)
    const [ref, milestone] = [object.optionalText('ref'), object.optionalText('milestone')]
    const closed = object.optionalTime('closed')
    return {
      number,
      ...poster,
      title: object.text('title'),
      content,
      ...(ref !== undefined && { ref }),
      ...(milestone !== undefined && { milestone }),
      state: object.choice('state', STATES, 'open'),
      is_locked: object.flag('is_locked'),
      created: object.time('created'),
      updated: object.time('updated'),
      ...(closed !== undefined && { closed }),
      labels: object.objects('labels').map(labelOf),
      reactions: object.objects('reactions').map(reactionOf),
      assignees: object.texts('assignees'),
    }
  }
}

function labelConversion(state: ConversionState): Conversion {
  return {
    convert(record, findings) {
      const object = readObject(record, [], findings)
      if (object === undefined) return []

      const label = labelOf(object)
      return [{ kind: 'label', label: state.labels.of(label.name, label, [], findings) }]
    },
  }
}

function milestoneConversion(state: ConversionState): Conversion {
  return {
    convert(record, findings) {
      const object = readObject(record, [], findings)
      if (object === undefined) return []

      const description = object.optionalText('description')
      const [deadline, created] = [timeOf(object, 'deadline'), timeOf(object, 'created')]
      const [updated, closed] = [timeOf(object, 'updated'), timeOf(object, 'closed')]
      const milestone = {
        title: object.text('title'),
        ...(description !== undefined && { description }),
        ...(deadline !== undefined && { deadline }),
        ...(created !== undefined && { created }),
        ...(updated !== undefined && { updated }),
        ...(closed !== undefined && { closed }),
        state: object.choice('state', STATES, 'open'),
      }
      object.reportRest({})
      return state.milestone(milestone, [], findings)
    },
    carried: (records) => state.carried(records),
  }
}

function commentConversion(state: ConversionState): Conversion {
  return {
    convert(record, findings) {
      const object = readObject(record, [], findings)
      if (object === undefined) return []

      const type = object.textOrEmpty('comment_type')
      const number = object.number('issue_index')
      if (type !== '' && type !== 'comment') {
        findings.notCarried('system_note', [])
        return []
      }
      if (!state.hasIssue(number)) {
        findings.notCarried('comments', [])
        return []
      }
      const poster = posterOf(object)
      const content = object.textOrEmpty('content')
      reportLinks(ATTACHMENT, content, ['content'], findings)
      const [created, updated] = [object.time('created'), object.time('updated')]
      const reactions = object.objects('reactions').map(reactionOf)
      object.reportRest(COMMENT_WORDS)
      const comment: CommentRecord = { issue_number: number, ...poster, created, updated, content, reactions }
      return [{ kind: 'comment', comment }]
    },
  }
}

function timeOf(object: ForeignObject, name: string): string | undefined {
  const time = object.optionalTime(name)
  return time === NO_TIME ? undefined : time
}

function posterOf(object: ForeignObject): Pick<IssueRecord, 'poster_id' | 'poster_name' | 'poster_email'> {
  const poster_email = object.optionalText('poster_email')
  return {
    poster_id: object.number('poster_id'),
    poster_name: object.textOrEmpty('poster_name'),
    ...(poster_email !== undefined && { poster_email }),
  }
}

/** The labels of an issue stay as they are, so that a document survives being written as a dump and read again. */
function labelOf(object: ForeignObject): LabelRecord {
  const name = object.text('name')
  const [color, description] = [object.optionalText('color'), object.optionalText('description')]
  object.reportRest(LABEL_WORDS)
  return { name, ...(color !== undefined && { color }), ...(description !== undefined && { description }) }
}

function reactionOf(object: ForeignObject): ReactionRecord {
  const user_name = object.optionalText('user_name')
  const reaction = {
    user_id: object.number('user_id'),
    ...(user_name !== undefined && { user_name }),
    content: object.text('content'),
  }
  object.reportRest({})
  return reaction
}
