import type { TestProjectInlineConfiguration, ViteUserConfig } from 'vitest/config'
import type { TestSpecification } from 'vitest/node'
import { BaseSequencer } from 'vitest/node'

/**
 * How many files of a suite run at once, measured on two cores: a third keeps them busy where files wait for a database or a
 * process. Two long files already start as many processes as that. Vitest ignores `--maxWorkers` for suites;
 * `VITEST_MAX_WORKERS` takes precedence.
 */
const WORKERS = { quick: 3, storages: 2, servers: 3, long: 2 } as const

/**
 * The name of a test file says which suite it is in: `x.servers.test.ts` is in "servers", and `x.test.ts` in "quick". These are
 * the suites that a name can have. Each has a command: `npm run test:<suite>`.
 */
export const NAMED_SUITES = ['storages', 'servers', 'long'] as const

/** In each suite, and not for all of them: vitest would run it once more. */
const BUILD_FIRST = 'test/codebase/setup/build-first.ts'

const quick: TestProjectInlineConfiguration = {
  extends: true,
  test: {
    name: 'quick',
    maxWorkers: WORKERS.quick,
    sequence: { groupOrder: 0 },
    globalSetup: [BUILD_FIRST],
    isolate: false, // no file leaves anything behind; importing the library anew for each costs a minute
    include: ['test/**/*.test.ts'],
    exclude: NAMED_SUITES.map((name) => `test/**/*.${name}.test.ts`),
  },
}

const named: readonly TestProjectInlineConfiguration[] = NAMED_SUITES.map((name, index) => ({
  extends: true,
  test: {
    name,
    maxWorkers: WORKERS[name],
    sequence: { groupOrder: index + 1 }, // suites with other numbers of workers cannot be one group
    globalSetup: [BUILD_FIRST, 'test/codebase/setup/report-skipped.ts'],
    include: [`test/**/*.${name}.test.ts`],
  },
}))

/** The files that run longest: those that run a suite on a server, and those that kill processes most often. */
const RUNS_LONGEST = /\b(contract|planted(-\w+)?|outbox|access-table|import-kills|serve-kill)\.\w+\.test\.ts$/

/** Starts with the files that run longest. Most are short: by their size they would run last, when the other workers are done. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const runsLongest = (file: TestSpecification): boolean => RUNS_LONGEST.test(file.moduleId)
    return [...sorted.filter(runsLongest), ...sorted.filter((file) => !runsLongest(file))]
  }
}

const config: ViteUserConfig = {
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [quick, ...named],
    setupFiles: ['test/codebase/setup/fail-on-console.ts'],
    // Real servers, processes and programs on a slow machine; nothing waits for these on purpose.
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
}

export default config
