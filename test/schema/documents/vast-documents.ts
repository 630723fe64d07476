import { bareIssue } from './sample-issue.ts'

const VAST = 300_000
const DEEP_LIST = `${'['.repeat(VAST)}${']'.repeat(VAST)}`
const DEEP_OBJECT = `${'{"object":'.repeat(VAST)}{}${'}'.repeat(VAST)}`

/**
 * Documents that would end a reader which recurses with their depth, or hands each element over as an argument; with the first
 * fault. They are texts of JSON, since what copies a value to another process recurses too.
 */
export const vastDocuments: readonly (readonly [title: string, text: string, pointer: string])[] = [
  ['a deep list as the document', DEEP_LIST, '/0'],
  ['a deep list as a title', issueWith('title', DEEP_LIST), '/0/title'],
  ['a deep list as labels', issueWith('labels', DEEP_LIST), '/0/labels/0'],
  ['a deep object as a label', issueWith('labels', `[${DEEP_OBJECT}]`), '/0/labels/0/name'],
  ['a deep object under an unknown name', issueWith('context', DEEP_OBJECT), '/0/context'],
  ['empty issues', listOf('{}'), '/0/number'],
  ['empty labels', issueWith('labels', listOf('{}')), '/0/labels/0/name'],
  ['empty reactions', issueWith('reactions', listOf('{}')), '/0/reactions/0/user_id'],
  ['assignees that are numbers', issueWith('assignees', listOf('7')), '/0/assignees/0'],
  ['unknown names', `[{${Array.from({ length: VAST }, (_, at) => `"x${at}":${at}`).join()}}]`, '/0/number'],
]

function listOf(element: string): string {
  return `[${new Array(VAST).fill(element).join()}]`
}

function issueWith(property: string, value: string): string {
  const issue = Object.entries({ ...bareIssue, [property]: null })
  return `[{${issue.map(([name, own]) => `"${name}":${name === property ? value : JSON.stringify(own)}`).join()}}]`
}
