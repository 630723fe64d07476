import { execFileSync } from 'node:child_process'

/**
 * The lines of each file of src/ and app/ that differ from where this branch left another, also before they are committed. A new
 * file counts when git knows it.
 */
export function changedLines(since) {
  const git = (...words) => execFileSync('git', words, { encoding: 'utf8', maxBuffer: 1e9 })
  const base = git('merge-base', since, 'HEAD').trim()
  const changed = new Map()
  let lines = new Set()
  for (const text of git('diff', '-U0', '--no-color', '--no-ext-diff', base, '--', 'src', 'app').split('\n')) {
    const [, path] = /^\+\+\+ b\/(.*)$/.exec(text) ?? []
    if (path !== undefined) {
      lines = new Set()
      changed.set(path, lines)
    }
    const [, from, count = '1'] = /^@@ \S+ \+(\d+)(?:,(\d+))? @@/.exec(text) ?? []
    if (from !== undefined) for (let at = 0; at < Number(count); at += 1) lines.add(Number(from) + at)
  }
  return new Map([...changed].filter(([path]) => path.endsWith('.ts')))
}
