import { ConversionState } from './conversion-state.ts'
import { hasProperties, listOf, objectOf } from './foreign.ts'
import type { Conversion, ConversionOptions, ForgeFormat } from './forge-format.ts'
import { leave, ownFilesIn, rootOf, rootOfOwnFiles, within } from './forge-format.ts'
import { commentOf, labelOf, milestoneOf, restIssues } from './rest.ts'

/** A folder of python-github-backup: records of GitHub's REST API in a file for each issue, with its comments in them. */
export const githubBackupFormat: ForgeFormat = {
  name: 'github-backup',
  recognizes: (record) => hasProperties(record, 'number', 'user', 'comment_data'),
  open: (options) => ({ issues: issues(new ConversionState(), options) }),
  folder: {
    rootIn: (files) => (rootOf(files, 'issues.json') === undefined ? rootOfOwnFiles(files) : undefined),
    async *read({ options, files, read }) {
      const state = new ConversionState()
      const carried: Conversion['carried'] = (records) => state.carried(records)
      const label: Conversion['convert'] = (record, findings) => [
        { kind: 'label', label: labelOf(record, [], state, findings) },
      ]
      const milestone: Conversion['convert'] = (record, findings) => milestoneOf(record, [], state, findings)
      const all = issues(state, options)
      const inFolder = (name: string): readonly string[] => files.filter((file) => file.startsWith(name))
      yield* read('labels/labels.json', () => ({ carried, convert: label }))
      for (const file of inFolder('milestones/')) yield* read(file, () => ({ carried, convert: milestone }))
      for (const file of ownFilesIn(files)) yield* read(file, () => all)
      for (const file of inFolder('pulls/')) yield* read(file, () => pulls)
    },
  },
}

const pulls: Conversion = {
  convert({ number }, findings) {
    findings.leftOut(number)
    return leave(findings, 'pull_request')
  },
}

function issues(state: ConversionState, options: ConversionOptions): Conversion {
  const [withComments, alone] = [restIssues(state, true), restIssues(state, false)]
  return {
    carried: (records) => state.carried(records),
    convert({ comment_data, ...record }, findings) {
      const comments = listOf(comment_data)
      const issue = (comments.length > 0 ? withComments : alone).convert(record, findings)
      if (issue.length === 0) return [] // it is a pull request
      const commentAt = (comment: unknown, at: number) =>
        commentOf(record['number'], objectOf(comment), options, within(findings, ['comment_data', at]))
      return [...issue, ...comments.flatMap(commentAt)]
    },
  }
}
