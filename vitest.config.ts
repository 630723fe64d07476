import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestProjectInlineConfiguration, ViteUserConfig } from 'vitest/config'
import type { TestSpecification } from 'vitest/node'
import { BaseSequencer } from 'vitest/node'
import { OLDEST_FOLDER } from './test/codebase/setup/oldest-drivers.ts'

/**
 * A suite: `x.test.ts` is in "quick", `x.servers.test.ts` in "servers", `x.nightly.test.ts` in "nightly" (CONTRIBUTING.md).
 * "oldest" has files of "servers" again, on the oldest drivers.
 */
const suite = (
  name: string,
  groupOrder: number,
  test: TestProjectInlineConfiguration['test'],
): TestProjectInlineConfiguration => ({
  extends: true,
  test: {
    name,
    sequence: { groupOrder },
    globalSetup: ['test/codebase/setup/prepare.ts'],
    include: [`test/**/*.${name}.test.ts`],
    // Two cores are busy with a file more, since it waits for servers and processes. VITEST_MAX_WORKERS takes precedence.
    maxWorkers: 3,
    ...test,
  },
})

/** Starts with the contracts: they run longest, and by their size they would run last, when the other workers are done. */
class ContractsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isContract = ({ moduleId }: TestSpecification): boolean =>
      /\/contract[\w-]*\.(?:servers\.)?test\./.test(moduleId)
    const sorted = await super.sort(files)
    return [...sorted.filter(isContract), ...sorted.filter((file) => !isContract(file))]
  }
}

/** The entries of the package by the names that hosts import, as tsconfig.json has them: app/ runs on the sources. */
const { compilerOptions } = JSON.parse(readFileSync(join(import.meta.dirname, 'tsconfig.json'), 'utf8'))
const sources = Object.entries<[string]>(compilerOptions.paths).map(([name, [file]]) => ({
  find: new RegExp(`^${name}$`),
  replacement: join(import.meta.dirname, file),
}))

const config: ViteUserConfig = {
  resolve: { alias: sources },
  test: {
    sequence: { sequencer: ContractsFirst },
    projects: [
      // No file leaves anything behind: importing the library anew for each costs a minute.
      suite('quick', 0, { isolate: false, include: ['test/**/*.test.ts'], exclude: ['test/**/*.*.test.ts'] }),
      suite('servers', 1, {}),
      suite('nightly', 2, { maxWorkers: 1 }), // some of these need every core
      suite('oldest', 3, {
        globalSetup: ['test/codebase/setup/prepare.ts', 'test/codebase/setup/oldest-drivers.ts'],
        alias: [{ find: /^(pg|mysql2)(\/promise)?$/, replacement: join(OLDEST_FOLDER, 'node_modules/$1$2') }],
        include: ['contract-postgres', 'contract-mariadb', 'postgres', 'mariadb', 'connections', 'in-transaction'].map(
          (name) => `test/storage/${name}.servers.test.ts`,
        ),
      }),
    ],
    setupFiles: ['test/codebase/setup/fail-on-console.ts'],
    maxConcurrency: 3, // pages of the manual: each starts programs, beside tests of time limits
    update: 'none', // a snapshot that is missing is red: only --update writes it
    // Real servers, processes and programs on a slow machine; nothing waits for these on purpose.
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
}

export default config
