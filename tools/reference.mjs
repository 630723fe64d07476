import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { register } from 'node:module'
import { dirname, join } from 'node:path'

// Writes the reference, docs/reference, and the texts for language models. With --check it writes nothing, and fails if a
// file differs from what it would write: a doc comment has changed, or an export, and `npm run reference` was not run.

register('./reference/load-typescript.mjs', import.meta.url)
const { referencePages } = await import('./reference/pages.mjs')
const { modelTexts } = await import('./reference/site-pages.mjs')

const root = join(import.meta.dirname, '..')
const checks = process.argv.includes('--check')
const stale = [write(referencePages()), write(modelTexts(root))].flat()
if (checks && stale.length > 0) {
  console.error(
    `run "npm run reference" and commit what it writes; these files are not up to date:\n${stale.join('\n')}`,
  )
  process.exitCode = 1
}

/** Writes files, unless this is a check. Returns the paths of those that differed. */
function write(texts) {
  return Object.entries(texts)
    .filter(([path, text]) => read(path) !== text)
    .map(([path, text]) => {
      if (checks) return path
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), text)
      return path
    })
}

function read(path) {
  try {
    return readFileSync(join(root, path), 'utf8')
  } catch {
    return undefined
  }
}
