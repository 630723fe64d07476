import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { register } from 'node:module'
import { dirname, join } from 'node:path'

// Writes the reference, docs/reference, the texts for language models, and the public types for those who review a change. With
// --check it leaves the public types as they are, and fails if they differ. It fails too if an export has no doc comment, a type
// is needed and not exported, or a page has a dead link.

register('./reference/load-typescript.mjs', import.meta.url)
const { publicTypes, readApi } = await import('./reference/api.mjs')
const { deadLinks } = await import('./reference/dead-links.mjs')
const { modelTexts } = await import('./reference/site-pages.mjs')
const { tablePages } = await import('./reference/tables.mjs')

const PUBLIC_TYPES = 'tools/reference/public-types.txt'
const root = join(import.meta.dirname, '..')
const api = await readApi(root)
const tables = tablePages(api)
await api.write(tables.list)
write(tables.texts)
write(modelTexts(root))

const types = publicTypes(api)
if (!process.argv.includes('--check')) write({ [PUBLIC_TYPES]: types })
const problems = [
  ...(api.isValid
    ? []
    : [
        'mend what typedoc has named above: what is not included in the documentation is exported from an entry file, such as src/index.ts',
      ]),
  ...(readFileSync(join(root, PUBLIC_TYPES), 'utf8') === types
    ? []
    : [`${PUBLIC_TYPES} is not up to date: run "npm run reference", and commit what it writes`]),
  ...deadLinks(root),
]
for (const problem of problems) console.error(problem)
process.exitCode = problems.length === 0 ? 0 : 1

function write(texts) {
  for (const [path, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
}
