import type { Findings } from './findings.ts'
import type { Foreign, Made } from './foreign.ts'
import { commentOf, filled, hasProperties, issueOf, listOf, objectOf, textOf } from './foreign.ts'
import type { Convert, ForgeFormat } from './forge-format.ts'
import { rootsOf } from './forge-format.ts'

const ISSUES = 'issue.yml'
/** What Go writes for a time that is not set. */
export const NO_TIME = '0001-01-01T00:00:00Z'

/** What `gitea dump-repo` writes: a folder of YAML files. Its issues alone are a list. */
export const giteaDumpFormat: ForgeFormat = {
  recognizes: (record) => hasProperties(record, 'number', 'foreignindex'),
  convert: issueIn,
  folder: {
    rootsIn: (files) => rootsOf(files, 'issue\\.yml'),
    isDump: true,
    async *read({ state, read }) {
      /** The indexes of the last issues, which the files with their comments are named by. */
      const indexes = new Map<unknown, unknown>()
      const convert: Convert = (record, at) => {
        indexes.set(record['number'], record['foreignindex'] ?? record['number'])
        return issueIn(record, at)
      }
      yield* read('label.yml', {
        convert: (label, at) => [{ kind: 'label', label: at.label(labelIn(label, at)) }],
      })
      yield* read('milestone.yml', { convert: milestoneIn })
      for await (const batch of read(ISSUES, { convert })) {
        yield batch
        for (const [number, index] of indexes) {
          if (state.hasIssue(number)) yield* read(`comments/${textOf(index)}.yml`, { convert: commentIn })
        }
        indexes.clear()
      }
      yield* read('pull_request.yml', { convert: (pull, at) => at.leavePull(pull) })
    },
    wordOf(file) {
      if (file.startsWith('comments/')) return 'comments'
      return file.startsWith('reviews/') ? 'pull_request_comments' : 'file'
    },
  },
}

/** A text of Gitea links to an attachment by its id. */
const ATTACHMENT = /\/attachments\/[0-9a-f]{8}-[0-9a-f-]{27}/g

function issueIn(record: Foreign, at: Findings): readonly Made[] {
  const { number, poster_id, poster_name, poster_email, title, content, ref, milestone, ...others } = record
  const { state, is_locked, created, updated, closed, labels, reactions, assignees, ...more } = others
  const { foreignindex: _, ...rest } = more
  at.leaveLinks(ATTACHMENT, 'content', content)
  at.leaveRest(rest)
  const lists = {
    labels: at.each('labels', labels, labelIn),
    reactions: at.each('reactions', reactions, reactionIn),
    assignees: listOf(assignees),
  }
  const of = { number, title, content, ref, milestone, closed, state, is_locked, created, updated }
  return [issueOf(of, { poster_id, poster_name: poster_name ?? '', poster_email }, lists)]
}

function milestoneIn(record: Foreign, at: Findings): readonly Made[] {
  const { title, description, deadline, created, updated, closed, state, ...rest } = record
  at.leaveRest(rest)
  const times = Object.entries({ deadline, created, updated, closed }).filter(([, time]) => time !== NO_TIME)
  return at.milestone({ title, description, state, ...Object.fromEntries(times) })
}

function commentIn(record: Foreign, at: Findings): readonly Made[] {
  const { issue_index: issue_number, comment_type, poster_id, poster_name, poster_email, ...others } = record
  const { created, updated, content, reactions, ...rest } = others
  if (comment_type && comment_type !== 'comment') return at.leave('system_note')
  if (at.lacksIssue(issue_number)) return []
  at.leaveLinks(ATTACHMENT, 'content', content)
  at.leaveRest(rest)
  const poster = { poster_id, poster_name: poster_name ?? '', poster_email }
  const lists = { reactions: at.each('reactions', reactions, reactionIn) }
  return [commentOf({ issue_number, created, updated, content }, poster, lists)]
}

/** The labels of an issue stay as they are, so that a document survives being written as a dump and read again. */
function labelIn(label: unknown, at: Findings): Foreign {
  const { name, color, description, ...rest } = objectOf(label)
  at.leaveRest(rest)
  return { name, ...filled({ color, description }) }
}

function reactionIn(reaction: unknown, at: Findings): Foreign {
  const { user_id, user_name, content, ...rest } = objectOf(reaction)
  at.leaveRest(rest)
  return { user_id, ...filled({ user_name }), content }
}
