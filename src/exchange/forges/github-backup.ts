import { hasProperties, listOf, objectOf } from './foreign.ts'
import type { Conversion, ForgeFormat } from './forge-format.ts'
import { ownFilesIn, rootOf } from './forge-format.ts'
import { restComment, restIssue, restLabel, restMilestone } from './rest.ts'

/** Issues alone may be those of Redmine: their first record decides. */
const BESIDE = /^(?:labels|milestones|pulls)\//

const LABELS: Conversion = { convert: (record, at) => [{ kind: 'label', label: restLabel(record, at) }] }
const MILESTONES: Conversion = { convert: restMilestone }
const PULLS: Conversion = { convert: ({ number }, at) => at.leavePull(number) }

/** A folder of python-github-backup: records of GitHub's REST API in a file for each issue, with its comments in them. */
export const githubBackupFormat: ForgeFormat = {
  name: 'github-backup',
  recognizes: (record) => hasProperties(record, 'number', 'user', 'comment_data'),
  convert({ comment_data, ...record }, at) {
    const issue = restIssue(record, at)
    if (issue.length === 0) return [] // it is a pull request
    at.found('comments', listOf(comment_data).length)
    const comments = at.each('comment_data', comment_data, (comment, ofComment) =>
      restComment(record['number'], objectOf(comment), ofComment),
    )
    return [...issue, ...comments]
  },
  folder: {
    rootIn(files) {
      const root = rootOf(files, 'issues/\\d+\\.json')
      if (root === undefined) return undefined
      const here = files.flatMap((file) => (file.startsWith(root) ? [file.slice(root.length)] : []))
      return here.some((file) => BESIDE.test(file)) && !here.includes('issues.json') ? root : undefined
    },
    async *read({ state: { files }, read }) {
      yield* read('labels/labels.json', LABELS)
      for (const file of ownFilesIn(files, 'milestones')) yield* read(file, MILESTONES)
      for (const file of ownFilesIn(files, 'issues')) yield* read(file, githubBackupFormat)
      for (const file of ownFilesIn(files, 'pulls')) yield* read(file, PULLS)
    },
  },
}
