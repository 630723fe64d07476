// What go-yaml, with which Gitea writes its dumps, made of each text: as a title with blanks for line breaks, as content,
// as the description of a label, and as an assignee.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Outcome } from '../reading.ts'
import { folderOf, readSource } from '../reading.ts'

interface Written {
  readonly text: string
  readonly '4.0.0-rc.3': string
  /** Undefined: the same. */
  readonly '3.0.1'?: string
  /** The version that leaves out the first line feed of this text, unseen. */
  readonly isCutBy?: string
}

const WRITTEN: readonly Written[] = JSON.parse(
  readFileSync(join(import.meta.dirname, 'written-by-go-yaml.json'), 'utf8'),
)

const HEAD = `- number: 7
  poster_id: 3
  poster_name: mia
  state: open
  created: "2024-02-29T08:30:00Z"
  updated: "2024-02-29T08:30:00Z"
`

const issueOf = (properties: string): string => `${HEAD}${properties}  foreignindex: 7\n`

function expectText({ issues, violations }: Outcome, text: string): void {
  expect(violations).toEqual([])
  expect(issues).toMatchObject([
    { title: text.replaceAll('\n', ' '), content: text, labels: [{ description: text }], assignees: [text] },
  ])
}

describe('a dump that Gitea wrote', () => {
  test.each(WRITTEN.filter(({ text }) => text !== ''))('has the text $text', async ({ text, isCutBy, ...written }) => {
    const four = issueOf(written['4.0.0-rc.3'])
    expectText(await readSource(folderOf({ 'issue.yml': four })), text)
    expectText(await readSource({ yaml: four }), text)
    const three = await readSource({ yaml: issueOf(written['3.0.1'] ?? written['4.0.0-rc.3']) })
    if (isCutBy === '3.0.1') expect(three.issues[0]?.content).toBe(text.slice(1))
    else expectText(three, text)
  })

  test.each([
    ['ten letter', 1_000_000],
    ['line\u2028    ', 50_000],
  ])('has a long text in quotes: %j, %d times', async (part, times) => {
    const yaml = issueOf(`  title: t\n  content: 'a\u2028    ${part.repeat(times)}b'\n`)
    const { issues } = await readSource({ yaml })
    expect(issues[0]?.content === `a\u2028${part.replace(/ +$/, '').repeat(times)}b`).toBe(true)
  })

  test('has other lists and the place of what cannot be read', async () => {
    const files = {
      'issue.yml': issueOf('  title: a\n'),
      'label.yml': `- name: bug\n  color: d73a4a\n  description: 'a\u2028    b'\n`,
      'comments/7.yml': '- issue_index: 7\n  content: |4-\n\n    a\u2028b\n  poster_id: @\n',
    }
    const { records, violations } = await readSource(folderOf(files))
    expect(records[0]).toMatchObject({ label: { description: 'a\u2028b' } })
    expect(violations).toMatchObject([{ code: 'yaml', file: 'comments/7.yml', line: 1, offset: 0 }])
  })

  test('is no document: there the separators are characters like others, and a block is indented as it says', async () => {
    const document = `${HEAD}  is_locked: false\n  title: 'a\u2028    b'\n  content: |4-\n        a\n      b\n`
    const { issues, violations } = await readSource({ yaml: document })
    expect([violations, issues[0]?.title, issues[0]?.content]).toEqual([[], 'a\u2028    b', '  a\nb'])
  })
})
