import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, test } from 'vitest'

/** Whether a program can be started by its name. */
function hasProgram(name: string): boolean {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return folders.some((folder) => isExecutable(join(folder, name)))
}

/**
 * A group of tests that start real programs. Where one is missing the group is not registered: one loud line on stderr
 * says so, and one test carries it; that test fails under `FORGELET_REQUIRE_PROGRAMS=1`.
 */
export function describeWith(programs: readonly string[], title: string, tests: () => void): void {
  const missing = programs.filter((name) => !hasProgram(name))
  if (missing.length === 0) {
    describe(title, tests)
    return
  }

  const message = `NOT RUN: "${title}" needs ${missing.join(' and ')}, which this machine does not have`
  process.stderr.write(`\n*** ${message} ***\n`)
  test(message, () => {
    if (process.env['FORGELET_REQUIRE_PROGRAMS'] === '1') throw new Error(message)
  })
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
