import { readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import tsup from '../../tsup.config.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const require = createRequire(import.meta.url)
const ENTRIES = readdirSync(resolve(ROOT, 'src/storage'))
  .filter((file) => file.endsWith('.ts') && file !== 'storage.ts')
  .map((file) => `storage/${file.slice(0, -'.ts'.length)}`)

test.each(ENTRIES)('the entry %s is built, exported and documented', (entry) => {
  expect(tsup.entry).toHaveProperty([entry], `src/${entry}.ts`)
  expect(require('../../package.json').exports).toHaveProperty([`./${entry}`])
  expect(require('../../typedoc.json').entryPoints).toContain(`src/${entry}.ts`)
})
