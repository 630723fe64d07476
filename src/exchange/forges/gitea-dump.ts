import type { Path } from '../documents/source-record.ts'
import { ConversionState } from './conversion-state.ts'
import { filled, hasProperties, leaveRest, listOf, objectOf } from './foreign.ts'
import type { Conversion, Findings, Foreign, ForgeFormat } from './forge-format.ts'
import { leave, reportLinks, rootOf } from './forge-format.ts'
import { NO_TIME } from './gitea-dump-records.ts'

const ISSUES = 'issue.yml'

/** What `gitea dump-repo` writes: a folder of YAML files. Its issues alone are a list. */
export const giteaDumpFormat: ForgeFormat = {
  name: 'gitea-dump',
  recognizes: (record) => hasProperties(record, 'number', 'foreignindex'),
  open: () => ({ issues: new DumpIssues(new ConversionState()) }),
  folder: {
    rootIn: (files) => rootOf(files, ISSUES),
    isDump: true,
    async *read(folder) {
      const state = new ConversionState()
      const issues = new DumpIssues(state)
      yield* folder.read('label.yml', () => labels(state))
      yield* folder.read('milestone.yml', () => milestones(state))
      for await (const batch of folder.read(ISSUES, () => issues)) {
        yield batch
        for (const index of issues.takeIndexes()) {
          yield* folder.read(`comments/${String(index)}.yml`, () => comments(state))
        }
      }
    },
    wordOf(file) {
      if (file.startsWith('comments/')) return 'comments'
      return file === 'pull_request.yml' || file.startsWith('reviews/') ? 'pull_request' : 'file'
    },
  },
}

/** A text of Gitea links to an attachment by its id. */
const ATTACHMENT = /\/attachments\/[0-9a-f]{8}-[0-9a-f-]{27}/g

/** Converts issues, and remembers the names of the files with their comments. */
class DumpIssues implements Conversion {
  readonly #state: ConversionState
  #lastIndex: unknown
  #indexes: unknown[] = []

  constructor(state: ConversionState) {
    this.#state = state
  }

  convert(record: Foreign, findings: Findings): ReturnType<Conversion['convert']> {
    const { number, poster_id, poster_name, poster_email, title, content, ref, milestone, ...others } = record
    const { state, is_locked, created, updated, closed, labels, reactions, assignees, ...more } = others
    const { foreignindex, ...rest } = more
    this.#lastIndex = foreignindex ?? number
    reportLinks(ATTACHMENT, content, ['content'], findings)
    leaveRest(rest, [], findings)
    const issue = {
      number,
      poster_id,
      poster_name: poster_name ?? '',
      ...filled({ poster_email, ref, milestone, closed }),
      title,
      content: content ?? '',
      state,
      is_locked: is_locked ?? false,
      created,
      updated,
      labels: listOf(labels).map((label, at) => labelOf(objectOf(label), ['labels', at], findings)),
      reactions: reactionsOf(reactions, findings),
      assignees: listOf(assignees),
    }
    return [{ kind: 'issue', issue }]
  }

  carried(records: Parameters<ConversionState['carried']>[0]): void {
    this.#state.carried(records)
    this.#indexes.push(this.#lastIndex)
  }

  /** Returns the indexes of the issues that were carried since the last call. */
  takeIndexes(): readonly unknown[] {
    const indexes = this.#indexes
    this.#indexes = []
    return indexes
  }
}

function labels(state: ConversionState): Conversion {
  return {
    carried: (records) => state.carried(records),
    convert: (record, findings) => [{ kind: 'label', label: state.label(labelOf(record, [], findings), [], findings) }],
  }
}

function milestones(state: ConversionState): Conversion {
  return {
    carried: (records) => state.carried(records),
    convert({ title, description, deadline, created, updated, closed, state: status, ...rest }, findings) {
      leaveRest(rest, [], findings)
      const times = Object.entries({ deadline, created, updated, closed }).filter(([, time]) => time !== NO_TIME)
      const all = { title, ...filled({ description, ...Object.fromEntries(times) }), state: status }
      return state.milestone(all, [], findings)
    },
  }
}

function comments(state: ConversionState): Conversion {
  return {
    convert({ issue_index, comment_type, poster_id, poster_name, poster_email, ...others }, findings) {
      const { created, updated, content, reactions, ...rest } = others
      if (comment_type && comment_type !== 'comment') return leave(findings, 'system_note')
      if (typeof issue_index === 'number' && !state.hasIssue(issue_index)) return leave(findings, 'comments')
      reportLinks(ATTACHMENT, content, ['content'], findings)
      leaveRest(rest, [], findings)
      const poster = { poster_id, poster_name: poster_name ?? '', ...filled({ poster_email }) }
      const texts = { created, updated, content: content ?? '', reactions: reactionsOf(reactions, findings) }
      return [{ kind: 'comment', comment: { issue_number: issue_index, ...poster, ...texts } }]
    },
  }
}

/** The labels of an issue stay as they are, so that a document survives being written as a dump and read again. */
function labelOf(record: Foreign, path: Path, findings: Findings): Foreign {
  const { name, color, description, ...rest } = record
  leaveRest(rest, path, findings)
  return { name, ...filled({ color, description }) }
}

function reactionsOf(reactions: unknown, findings: Findings): readonly Foreign[] {
  return listOf(reactions).map((reaction, at) => {
    const { user_id, user_name, content, ...rest } = objectOf(reaction)
    leaveRest(rest, ['reactions', at], findings)
    return { user_id, ...filled({ user_name }), content }
  })
}
