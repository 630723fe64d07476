import { bareIssue } from './sample-issue.ts'

const VAST = 300_000

/** Documents that would end a reader which recurses with their depth, or hands each element over as an argument; with the first fault. */
export const vastDocuments: readonly (readonly [title: string, document: unknown, pointer: string])[] = [
  ['a deep list as the document', deepList(), '/0'],
  ['a deep list as a title', [{ ...bareIssue, title: deepList() }], '/0/title'],
  ['a deep list as labels', [{ ...bareIssue, labels: deepList() }], '/0/labels/0'],
  ['a deep object as a label', [{ ...bareIssue, labels: [deepObject()] }], '/0/labels/0/name'],
  ['a deep object under an unknown name', [{ ...bareIssue, context: deepObject() }], '/0/context'],
  ['empty issues', new Array(VAST).fill({}), '/0/number'],
  ['empty labels', [{ ...bareIssue, labels: new Array(VAST).fill({}) }], '/0/labels/0/name'],
  ['empty reactions', [{ ...bareIssue, reactions: new Array(VAST).fill({}) }], '/0/reactions/0/user_id'],
  ['assignees that are numbers', [{ ...bareIssue, assignees: new Array(VAST).fill(7) }], '/0/assignees/0'],
  ['unknown names', [Object.fromEntries(Array.from({ length: VAST }, (_, at) => [`x${at}`, at]))], '/0/number'],
]

function deepList(): unknown {
  let list: unknown = []
  for (let depth = 0; depth < VAST; depth += 1) list = [list]
  return list
}

function deepObject(): unknown {
  let object: unknown = {}
  for (let depth = 0; depth < VAST; depth += 1) object = { object }
  return object
}
