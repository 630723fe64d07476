import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

/** In MB. An empty process of Node has 60 of them. */
const MAX_PEAK = 150

interface Run {
  readonly work: string
  /** The number of issues, or the exit code of a command. */
  readonly result: number
  readonly peak: number
}

test('a million issues are read, imported and exported in the memory of a few', { timeout: 1_800_000 }, () => {
  const runs = runsOf('document')

  expect(runs.map(({ work, result }) => [work, result])).toEqual([
    ['read', 1_000_000],
    ['import', 1_000_000],
    ['export', 1_000_000],
  ])
  expect(runs.filter(({ peak }) => peak > MAX_PEAK)).toEqual([])
})

test('an archive of GitHub with 100,000 issues is checked and imported in little memory', {
  timeout: 1_800_000,
}, () => {
  const runs = runsOf('github-archive')

  expect(runs.map(({ work, result }) => [work, result])).toEqual([
    ['validate folder', 0],
    ['import folder', 0],
    ['validate archive', 0],
    ['import archive', 0],
  ])
  expect(runs.filter(({ peak }) => peak > MAX_PEAK)).toEqual([])
})

function runsOf(source: string): readonly Run[] {
  const printed = execFileSync(process.execPath, ['test/exchange/memory.mjs', source], { encoding: 'utf8' })
  return printed
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}
