import { readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import tsup from '../../tsup.config.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const require = createRequire(import.meta.url)
const ENTRIES = [
  ...filesIn('storage')
    .filter((name) => name !== 'storage')
    .map((name) => [`storage/${name}`, `src/storage/${name}.ts`]),
  ...filesIn('http-adapters').map((name) => [name, `src/http-adapters/${name}.ts`]),
  ...filesIn('exchange').map((name) => [name === 'exchange' ? name : `exchange/${name}`, `src/exchange/${name}.ts`]),
]

function filesIn(module: string): readonly string[] {
  const files = readdirSync(resolve(ROOT, 'src', module)).filter((file) => file.endsWith('.ts'))
  return files.map((file) => file.slice(0, -'.ts'.length))
}

test.each(ENTRIES)('the entry %s is built and exported', (entry, file) => {
  expect(tsup.entry).toHaveProperty([entry], file)
  expect(require('../../package.json').exports).toHaveProperty([`./${entry}`])
})
