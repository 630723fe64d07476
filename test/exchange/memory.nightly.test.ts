import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

/** In MB. An empty process of Node has 60 of them. */
const MAX_PEAK = 150

test('a million issues are read, imported and exported in the memory of a few', { timeout: 1_800_000 }, () => {
  const printed = execFileSync(process.execPath, ['bench/exchange-memory.mjs'], { encoding: 'utf8' })
  const peaks = [...printed.matchAll(/(read|import|export): (\d+) issues, .*peak (\d+) MB/g)].map(
    ([, work, issues, peak]) => ({ work, issues: Number(issues), peak: Number(peak) }),
  )

  expect(peaks.filter(({ issues }) => issues === 1_000_000).map(({ work }) => work)).toEqual([
    'read',
    'import',
    'export',
  ])
  expect(peaks.filter(({ peak }) => peak > MAX_PEAK)).toEqual([])
})

test('an archive of GitHub with 100,000 issues is checked and imported in little memory', {
  timeout: 1_800_000,
}, () => {
  const printed = execFileSync(process.execPath, ['bench/exchange-archive.mjs'], { encoding: 'utf8' })
  const runs = [...printed.matchAll(/(\w+ \w+): exit code (\d), .*peak (\d+) MB/g)]

  expect(runs.map(([, work, code]) => [work, code])).toEqual([
    ['validate folder', '0'],
    ['import folder', '0'],
    ['validate archive', '0'],
    ['import archive', '0'],
  ])
  expect(runs.filter(([, , , peak]) => Number(peak) > MAX_PEAK).map(([line]) => line)).toEqual([])
})
