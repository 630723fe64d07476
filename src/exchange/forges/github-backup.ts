import { ConversionState } from './conversion-state.ts'
import { hasProperties, listOf, objectOf } from './foreign.ts'
import type { Conversion, ConversionOptions, ForgeFormat } from './forge-format.ts'
import { leave, ownFilesIn, rootOf, rootOfOwnFiles, within } from './forge-format.ts'
import { restComment, restIssues, restLabel, restMilestone } from './rest.ts'

/** A folder of python-github-backup: records of GitHub's REST API in a file for each issue, with its comments in them. */
export const githubBackupFormat: ForgeFormat = {
  name: 'github-backup',
  recognizes: (record) => hasProperties(record, 'number', 'user', 'comment_data'),
  open: (options) => ({ issues: issues(new ConversionState(), options) }),
  folder: {
    rootIn(files) {
      const root = rootOf(files, 'issues.json') === undefined ? rootOfOwnFiles(files) : undefined
      // Issues alone may be those of Redmine: their first record decides.
      return files.some((file) => BESIDE.test(file.slice(root?.length))) ? root : undefined
    },
    async *read({ options, files, read }) {
      const state = new ConversionState()
      const label: Conversion['convert'] = (record, findings) => [
        { kind: 'label', label: restLabel(record, state, findings) },
      ]
      const milestone: Conversion['convert'] = (record, findings) => restMilestone(record, state, findings)
      const all = issues(state, options)
      const inFolder = (name: string): readonly string[] => files.filter((file) => file.startsWith(name))
      yield* read('labels/labels.json', () => ({ state, convert: label }))
      for (const file of inFolder('milestones/')) yield* read(file, () => ({ state, convert: milestone }))
      for (const file of ownFilesIn(files)) yield* read(file, () => all)
      for (const file of inFolder('pulls/')) yield* read(file, () => pulls)
    },
  },
}

const BESIDE = /^(?:labels|milestones|pulls)\//

const pulls: Conversion = {
  convert({ number }, findings) {
    findings.leftOut(number)
    return leave(findings, 'pull_request')
  },
}

function issues(state: ConversionState, options: ConversionOptions): Conversion {
  const [withComments, alone] = [restIssues(state, true), restIssues(state, false)]
  return {
    state,
    convert({ comment_data, ...record }, findings) {
      const comments = listOf(comment_data)
      const issue = (comments.length > 0 ? withComments : alone).convert(record, findings, [])
      if (issue.length === 0) return [] // it is a pull request
      const commentAt = (comment: unknown, at: number) =>
        restComment(record['number'], objectOf(comment), options, within(findings, ['comment_data', at]))
      return [...issue, ...comments.flatMap(commentAt)]
    },
  }
}
