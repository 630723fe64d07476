// Builds the package once, before the tests, when a test of this run reads what was built and the build is not the
// sources' own. The suite "quick" does without declarations, which take most of the time. A failing build is reported here and
// fails the tests that need it, no others.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TestProject } from 'vitest/node'

const STAMP = 'node_modules/.cache/forgelet/built-from'

export async function setup(project: TestProject): Promise<void> {
  if (process.env['FORGELET_TEST_NO_BUILD'] === '1' || !(await readsTheBuild(project))) return

  const sources = fingerprint()
  const isQuick = project.name === 'quick'
  const isBuilt = existsSync(isQuick ? 'dist/index.js' : 'dist/index.d.ts')
  if (isBuilt && existsSync(STAMP) && readFileSync(STAMP, 'utf8') === sources) return

  rmSync(STAMP, { force: true })
  const options = isQuick ? ['--no-dts'] : []
  const built = spawnSync(process.execPath, ['node_modules/tsup/dist/cli-default.js', ...options], { encoding: 'utf8' })
  if (built.status === 0) {
    mkdirSync(join(STAMP, '..'), { recursive: true })
    writeFileSync(STAMP, sources)
  } else {
    process.stderr.write(`\nTHE BUILD FAILED, and so will the tests that need it:\n${built.stdout}${built.stderr}\n`)
  }
}

/** Whether a test of this run, or a file beside it, names the folder of the build. */
async function readsTheBuild(project: TestProject): Promise<boolean> {
  const names = process.argv.slice(2).filter((word) => !word.startsWith('-') && word !== 'run')
  const { testFiles } = await project.globTestFiles(names)
  const folders = new Set(testFiles.map((file) => dirname(file)))
  return [...folders].some((folder) => {
    const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile())
    return files.some(({ name }) => /\bdist\b/.test(readFileSync(join(folder, name), 'utf8')))
  })
}

/** Of everything that the build is made from. */
function fingerprint(): string {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).map((name) => join('src', name))
  const files = [...sources, 'package.json', 'package-lock.json', 'tsconfig.json', 'tsup.config.ts'].sort()
  const hash = createHash('sha256')
  for (const file of files) if (statSync(file).isFile()) hash.update(file).update('\0').update(readFileSync(file))
  return hash.digest('hex')
}
