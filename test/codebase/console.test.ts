import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')
const project = mkdtempSync(join(tmpdir(), 'console-'))
let report: readonly { readonly title: string; readonly status: string }[] = []

beforeAll(() => {
  const setup = join(ROOT, 'test/codebase/setup/fail-on-console.ts')
  symlinkSync(join(ROOT, 'node_modules'), join(project, 'node_modules'))
  writeFileSync(
    join(project, 'vitest.config.mjs'),
    `export default { test: { setupFiles: [${JSON.stringify(setup)}] } }`,
  )
  writeFileSync(
    join(project, 'planted.test.ts'),
    `import { it } from 'vitest'
     it('silent', () => {})
     it('loud', () => console.warn('a library that shouts'))
     it('loud and caught', () => { try { console.log('again') } catch {} })
     it('silent again', () => {})`,
  )
  const words = [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', '--reporter=json']
  const { stdout } = spawnSync(process.execPath, words, { cwd: project, encoding: 'utf8' })
  report = JSON.parse(stdout).testResults[0].assertionResults
})

afterAll(() => rmSync(project, { recursive: true }))

it.each([
  ['silent', 'passed'],
  ['loud', 'failed'],
  ['loud and caught', 'failed'],
  ['silent again', 'passed'],
])('a test that is %s has %s', (title, status) => {
  expect(report.find((test) => test.title === title)?.status).toBe(status)
})

it('a test that expects a console call passes', () => {
  const spy = vi.spyOn(console, 'error').mockImplementation(() => undefined)

  console.error('expected')

  expect(spy).toHaveBeenCalledWith('expected')
})
