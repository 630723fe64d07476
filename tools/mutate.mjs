// Plants one fault after the other in the sources and runs the tests of the module with each. A fault that no test finds is
// printed: it shows a line that no test proves. Nothing in the working tree changes, also when it is interrupted.
// Usage: npm run mutate -- src/core/pins [test files or folders]   the faults in a file or a folder
//        npm run mutate -- --since main                            those in lines that have changed since the branch left main
//        npm run mutate -- src/core --sample 40                    so many of them, evenly spread, the same in every run
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { changedLines } from './mutate/changed-lines.mjs'
import { faultsIn } from './mutate/faults.mjs'
import { testsOf } from './mutate/owners.mjs'
import { Tester } from './mutate/tester.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { since: { type: 'string' }, sample: { type: 'string' } },
})
const sources = positionals.filter((path) => /^(src|app)/.test(path))
const named = positionals.filter((path) => !/^(src|app)/.test(path))
if ((sources.length === 0 && values.since === undefined) || !positionals.every(existsSync)) {
  console.error('name a file or a folder of src or app, or --since main: npm run mutate -- src/core/pins')
  process.exit(2)
}

const faults = sampled(values.since === undefined ? sources.flatMap(faultsOf) : changedFaults(values.since))
let survivors = faults
for (const stage of [0, 1]) survivors = await survivorsOf(survivors, stage)

for (const { path, line, code, replacement } of survivors) {
  console.log(`${path}:${line}  ${brief(code)}  ->  ${brief(replacement)}`)
}
const score = faults.length === 0 ? 100 : Math.floor((100 * (faults.length - survivors.length)) / faults.length)
console.log(`${faults.length} faults, ${survivors.length} not found: ${score} %`)
process.exit(survivors.length > 0 ? 1 : 0)

function faultsOf(path) {
  if (!statSync(path).isDirectory()) return faultsIn(path, readFileSync(path, 'utf8'))
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  return names.sort().flatMap((name) => faultsOf(join(path, name)))
}

function changedFaults(since) {
  const changed = [...changedLines(since)].filter(
    ([path]) => sources.length === 0 || sources.some((one) => path.startsWith(one)),
  )
  return changed.flatMap(([path, lines]) => faultsOf(path).filter(({ line }) => lines.has(line)))
}

function sampled(all) {
  const count = Math.min(all.length, Number(values.sample ?? all.length))
  return Array.from({ length: count }, (_, at) => all[Math.floor(((at + 0.5) * all.length) / count)])
}

/** Runs the first tests of each fault, or the second: those of the same tests one after the other, in one process. */
async function survivorsOf(planted, stage) {
  const groups = new Map()
  const survived = []
  for (const fault of planted) {
    const tests = (named.length > 0 ? [named] : testsOf(fault.path))[stage]
    if (tests === undefined) survived.push(fault)
    else groups.set(tests.join(' '), [...(groups.get(tests.join(' ')) ?? []), fault])
  }
  for (const [tests, group] of groups) {
    const tester = new Tester(tests.split(' '))
    await tester.expectSound()
    for (const [done, fault] of group.entries()) {
      if (process.stderr.isTTY) process.stderr.write(`\r${tests}: ${done} of ${group.length}\u001b[K`)
      if (!(await tester.finds({ ...fault, path: resolve(fault.path) }))) survived.push(fault)
    }
    tester.end()
  }
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K')
  return faults.filter((fault) => survived.includes(fault)) // in the order of the sources
}

function brief(text) {
  const line = text.replaceAll(/\s+/g, ' ')
  return line.length > 70 ? `${line.slice(0, 67)}...` : line
}
