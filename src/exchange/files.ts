export type { OpenedSource } from './files/open-issue-source.ts'
export { openIssueSource } from './files/open-issue-source.ts'
export { writeIssueFile } from './files/write-issue-file.ts'
