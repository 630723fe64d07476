// The repository is the same on every machine: a path of one machine in a tracked file is a leftover, and tells strangers
// where somebody works. This refuses absolute paths below the usual home and work folders.
// Usage: node tools/check-paths.mjs
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

const MACHINE_PATH = /(?<![\w.:/-])\/(?:home|Users|root|work|farm)\/[\w.-]|\.\.\/(?:shared)\b|[A-Z]:\\\\?Users\b/

const tracked = execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8' }).split('\0').filter(existsSync)
const leftovers = tracked.flatMap((file) => {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.flatMap((line, index) => (MACHINE_PATH.test(line) ? [`${file}:${index + 1}  ${line.trim()}`] : []))
})

for (const line of leftovers) console.error(line)
if (leftovers.length > 0) process.exitCode = 1
