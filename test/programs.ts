import { accessSync, constants, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, test } from 'vitest'

/** Where a program is that can be started by its name. */
export function programPath(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return folders.map((folder) => join(folder, name)).find(isExecutable)
}

/** The most memory that a process has used, in megabytes. */
export function peakOf(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}

/**
 * A group of tests that start real programs. Where one is missing the group is not registered: one loud line on stderr
 * says so, and one test carries it; that test fails under `FORGELET_REQUIRE_PROGRAMS=1`.
 */
export function describeWith(programs: readonly string[], title: string, tests: () => void): void {
  const missing = programs.filter((name) => programPath(name) === undefined)
  if (missing.length === 0) {
    describe(title, tests)
    return
  }

  notRun(`"${title}" needs ${missing.join(' and ')}, which this machine does not have`)
}

/** Says that tests are not run, and why: in a loud line on stderr, and in one test, which fails if they are required. */
export function notRun(why: string, isRequired: boolean = process.env['FORGELET_REQUIRE_PROGRAMS'] === '1'): void {
  const message = `NOT RUN: ${why}`
  process.stderr.write(`\n*** ${message} ***\n`)
  test(message, () => {
    if (isRequired) throw new Error(message)
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
