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
