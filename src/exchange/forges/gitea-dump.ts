import { ConversionState } from './conversion-state.ts'
import { commentOf, filled, hasProperties, issueOf, leaveRest, listOf, objectOf } from './foreign.ts'
import type { Conversion, Findings, Foreign, ForgeFormat } from './forge-format.ts'
import { leave, reportLinks, rootOf, within } from './forge-format.ts'
import { NO_TIME } from './gitea-dump-records.ts'

const ISSUES = 'issue.yml'

/** What `gitea dump-repo` writes: a folder of YAML files. Its issues alone are a list. */
export const giteaDumpFormat: ForgeFormat = {
  name: 'gitea-dump',
  recognizes: (record) => hasProperties(record, 'number', 'foreignindex'),
  open: () => ({ issues: issues(new ConversionState(), () => undefined) }),
  folder: {
    rootIn: (files) => rootOf(files, ISSUES),
    isDump: true,
    async *read({ read }) {
      const state = new ConversionState()
      /** The indexes of the last issues, which the files with their comments are named by. */
      const indexes = new Map<unknown, unknown>()
      yield* read('label.yml', () => labels(state))
      yield* read('milestone.yml', () => milestones(state))
      for await (const batch of read(ISSUES, () => issues(state, (number, index) => indexes.set(number, index)))) {
        yield batch
        for (const [number, index] of indexes) {
          if (state.hasIssue(number)) yield* read(`comments/${String(index)}.yml`, () => comments(state))
        }
        indexes.clear()
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

function issues(state: ConversionState, onIssue: (number: unknown, index: unknown) => void): Conversion {
  return {
    state,
    convert(record, findings) {
      const { number, poster_id, poster_name, poster_email, title, content, ref, milestone, ...others } = record
      const { state: status, is_locked, created, updated, closed, labels, reactions, assignees, ...more } = others
      const { foreignindex, ...rest } = more
      onIssue(number, foreignindex ?? number)
      reportLinks(ATTACHMENT, content, ['content'], findings)
      leaveRest(rest, findings)
      const lists = {
        labels: listOf(labels).map((label, at) => labelOf(objectOf(label), within(findings, ['labels', at]))),
        reactions: reactionsOf(reactions, findings),
        assignees: listOf(assignees),
      }
      const poster = { poster_id, poster_name: poster_name ?? '', poster_email }
      const of = { number, title, content, ref, milestone, closed, state: status, is_locked, created, updated }
      return [issueOf(of, poster, lists)]
    },
  }
}

function labels(state: ConversionState): Conversion {
  return {
    state,
    convert: (record, findings) => [{ kind: 'label', label: state.label(labelOf(record, findings), findings) }],
  }
}

function milestones(state: ConversionState): Conversion {
  return {
    state,
    convert({ title, description, deadline, created, updated, closed, state: status, ...rest }, findings) {
      leaveRest(rest, findings)
      const times = Object.entries({ deadline, created, updated, closed }).filter(([, time]) => time !== NO_TIME)
      const all = { title, ...filled({ description, ...Object.fromEntries(times) }), state: status }
      return state.milestone(all, findings)
    },
  }
}

function comments(state: ConversionState): Conversion {
  return {
    convert({ issue_index: issue_number, comment_type, poster_id, poster_name, poster_email, ...others }, findings) {
      const { created, updated, content, reactions, ...rest } = others
      if (comment_type && comment_type !== 'comment') return leave(findings, 'system_note')
      if (typeof issue_number === 'number' && !state.hasIssue(issue_number)) return leave(findings, 'comments')
      reportLinks(ATTACHMENT, content, ['content'], findings)
      leaveRest(rest, findings)
      const poster = { poster_id, poster_name: poster_name ?? '', poster_email }
      const lists = { reactions: reactionsOf(reactions, findings) }
      return [commentOf({ issue_number, created, updated, content }, poster, lists)]
    },
  }
}

/** The labels of an issue stay as they are, so that a document survives being written as a dump and read again. */
function labelOf({ name, color, description, ...rest }: Foreign, findings: Findings): Foreign {
  leaveRest(rest, findings)
  return { name, ...filled({ color, description }) }
}

function reactionsOf(reactions: unknown, findings: Findings): readonly Foreign[] {
  return listOf(reactions).map((reaction, at) => {
    const { user_id, user_name, content, ...rest } = objectOf(reaction)
    leaveRest(rest, within(findings, ['reactions', at]))
    return { user_id, ...filled({ user_name }), content }
  })
}
