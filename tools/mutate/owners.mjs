// Which tests see a fault in a source file: CONTRIBUTING.md has the same table for people.
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'

const SQLITE_CONTRACT = ['test/storage/contract-sqlite.test.ts', 'test/storage/contract-sqlite-drawn.test.ts']

/**
 * The tests that hold the promises of a module, where those of the folder with its name are not enough. The first path that fits
 * counts. Every other module is held by all tests of its folder in test/.
 */
const OWNERS = [
  // Every module uses the shared types: what the tests of core see is proven.
  ['src/schema', ['test/schema', 'test/core', 'test/exchange']],
  // The contract compares storages with the one in memory, so SQLite shows what that does wrong by itself.
  ['src/storage/memory', ['test/storage/contract.test.ts', ...SQLITE_CONTRACT]],
  ['src/storage', SQLITE_CONTRACT],
  ['app/standalone/host-store', ['test/standalone', 'test/cli/refusals.test.ts']],
]

/** Lists of test files and folders, the nearest first: the second list is for the faults that the first does not find. */
export function testsOf(path) {
  const [, owners] = OWNERS.find(([module]) => path.startsWith(module)) ?? [path, [`test/${path.split('/')[1]}`]]
  const near = mirrored(dirname(path))
  return near === owners[0] && owners.length === 1 ? [owners] : [[near], owners]
}

/** The folder of test/ that mirrors a folder of src/, or the nearest one above that has quick tests. */
function mirrored(folder) {
  const tests = join('test', folder.slice(folder.indexOf('/') + 1))
  const files = existsSync(tests) ? readdirSync(tests, { recursive: true, encoding: 'utf8' }) : []
  return files.some((file) => /^[^.]+\.test\.ts$/.test(file)) ? tests : mirrored(dirname(folder))
}
