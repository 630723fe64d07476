import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { packageFolder } from '../packages.ts'
import { describeWith } from '../programs.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const folder = packageFolder()
copyFileSync(join(ROOT, 'schema/openapi.json'), join(folder, 'openapi.json'))

function run(program: string, words: readonly string[]): string {
  return execFileSync(program, words, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

// Clients that generators make of the published document, as its users would, and what their compilers say of them.

describeWith(['go'], 'in Go', () => {
  test('oapi-codegen and ogen make clients that compile', () => {
    run('go', ['mod', 'init', 'example.com/generated'])
    mkdirSync(join(folder, 'oapi'))
    const oapi = ['github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2', '-package', 'oapi']
    run('go', ['run', ...oapi, '-generate', 'types,client', '-o', 'oapi/client.go', 'openapi.json'])
    run('go', [
      'run',
      'github.com/ogen-go/ogen/cmd/ogen@v1.24.0',
      '--target',
      'ogen',
      '--package',
      'ogen',
      'openapi.json',
    ])
    run('go', ['mod', 'tidy'])
    run('go', ['build', './...'])
  }, 600_000)
})

test('openapi-typescript and orval make clients that compile', () => {
  const quiet = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
  run('npm', ['install', '--prefix', folder, ...quiet, 'openapi-typescript@7.10.1', 'orval@7.13.2', 'typescript@5.9.3'])
  run('npx', ['openapi-typescript', 'openapi.json', '-o', 'types.ts'])
  run('npx', ['orval', '--input', './openapi.json', '--output', './orval.ts', '--client', 'fetch'])
  writeFileSync(
    join(folder, 'use.ts'),
    `import { organizationListBlocks } from './orval.ts'
     import type { paths } from './types.ts'
     type Badges = paths['/admin/users/{username}/badges']['get']['responses']['200']['content']['application/json;charset=utf-8']
     export const slug = (badges: Badges): string | undefined => badges[0]?.slug
     export const blocks = organizationListBlocks('acme')`,
  )
  const strict = ['--strict', '--noEmit', '--module', 'preserve', '--target', 'es2022', '--allowImportingTsExtensions']

  expect(run('npx', ['tsc', ...strict, 'use.ts'])).toBe('')
}, 300_000)
