// Runs test files again and again in one vitest, each time with another fault in the sources: the fault is put in while
// vitest loads the file, so nothing on the disk changes. A process of its own, because a fault may never end.
// Receives `{ fault }`, or `{}` for the sources as they are, and answers `{ count, failed }`: how many test files were run,
// and whether one of them failed.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { createVitest } from 'vitest/node'

let planted
const faulty = {
  name: 'plant-a-fault',
  enforce: 'pre',
  transform(code, id) {
    if (planted === undefined || id.split('?')[0] !== planted.path) return undefined
    return code.slice(0, planted.start) + planted.replacement + code.slice(planted.end)
  },
}

/** The entries of the package by the names that hosts import: of a package that was built, the faults would not be run. */
const { compilerOptions } = JSON.parse(readFileSync('tsconfig.json', 'utf8'))
const alias = Object.entries(compilerOptions.paths).map(([name, [file]]) => ({
  find: new RegExp(`^${name}$`),
  replacement: resolve(file),
}))

const tests = process.argv.slice(2)
const vitest = await createVitest(
  'test',
  {
    config: false,
    watch: false,
    include: ['test/**/*.test.ts'],
    // Of a folder the quick suite alone. A file can be of any suite.
    exclude: tests.some((name) => name.endsWith('.test.ts')) ? [] : ['test/**/*.*.test.ts'],
    maxWorkers: 2,
    bail: 1,
    reporters: [{}],
    testTimeout: 10_000,
  },
  { plugins: [faulty], resolve: { alias } },
)
const specifications = await vitest.globTestSpecifications(tests)

/** Runs the tests. Now and then vitest cancels a run at once, because a test of the run before has failed. */
async function hasFailed() {
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications)
  if (unhandledErrors.length > 0 || testModules.some((module) => !module.ok())) return true
  return testModules.some((module) => module.state() === 'pending') && hasFailed()
}

process.on('message', async ({ fault }) => {
  for (const changed of new Set([planted?.path, fault?.path])) if (changed !== undefined) vitest.invalidateFile(changed)
  planted = fault
  process.send({ count: specifications.length, failed: await hasFailed() })
})
process.on('disconnect', () => process.exit())
