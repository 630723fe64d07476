// Plants one fault after the other in the sources of a module and runs the tests of its mirrored folder. A fault that no test
// finds is printed: it shows a line that no test proves. Nothing in the working tree changes, also when it is interrupted.
// Usage: npm run mutate -- src/core/pins [test files or folders, default: the mirrored folder]
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { faultsIn } from './mutate/faults.mjs'

const [module, ...named] = process.argv.slice(2)
if (module === undefined || !existsSync(module)) {
  console.error('name a file or a folder of src: npm run mutate -- src/core/pins')
  process.exit(2)
}
const tests = named.length > 0 ? named : [mirrored(module)]
const faults = sources(module).flatMap((path) => faultsIn(resolve(path), readFileSync(path, 'utf8')))

let limit = 120_000 // milliseconds, until it is known how long the tests take
let tester = startTester()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(130))
process.on('exit', () => tester.kill('SIGKILL'))

const from = performance.now()
const sound = await tester.test({})
if (sound.count === 0 || sound.failed) {
  console.error(sound.count === 0 ? `no tests in ${tests.join(', ')}` : 'the tests fail without a fault')
  process.exit(2)
}
limit = 20_000 + 10 * (performance.now() - from)

const survivors = []
for (const [done, fault] of faults.entries()) {
  if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${faults.length}, ${survivors.length} survived `)
  const { failed } = await tester.test({ fault })
  if (!failed) survivors.push(fault)
}

for (const { path, line, code, replacement } of survivors) {
  console.log(`${path.slice(process.cwd().length + 1)}:${line}  ${brief(code)}  ->  ${brief(replacement)}`)
}
const score = faults.length === 0 ? 100 : Math.floor((100 * (faults.length - survivors.length)) / faults.length)
console.log(`${faults.length} faults in ${module}, ${survivors.length} not found by ${tests.join(', ')}: ${score} %`)
process.exit(survivors.length > 0 ? 1 : 0)

/** The tests of a module, in the folder of test/ that mirrors it, or the nearest one above. */
function mirrored(path) {
  const folder = statSync(path).isDirectory() ? path : dirname(path)
  const tests = join('test', folder.replace(/^(\.\/)?src\/?/, ''))
  return existsSync(tests) ? tests : mirrored(dirname(folder))
}

function sources(path) {
  if (!statSync(path).isDirectory()) return [path]
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  return names.map((name) => join(path, name)).sort()
}

/** A process that runs the tests. When it does not answer in time, the fault is found, and another process is started. */
function startTester() {
  const script = new URL('mutate/test-process.mjs', import.meta.url)
  const child = fork(script, tests, {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    env: { ...process.env, FORGELET_TEST_NO_BUILD: '1' },
    detached: true, // its workers end with it
  })
  const kill = () => {
    try {
      process.kill(-child.pid, 'SIGKILL')
    } catch {} // it has ended
  }
  return {
    kill,
    async test(message) {
      const answered = new AbortController()
      const late = setTimeout(kill, limit)
      child.send(message)
      const { signal } = answered
      const [answer] = await Promise.race([once(child, 'message', { signal }), once(child, 'exit', { signal })])
      clearTimeout(late)
      answered.abort()
      if (typeof answer === 'object' && answer !== null) return answer

      tester = startTester()
      return { count: 1, failed: true }
    },
  }
}

function brief(text) {
  const line = text.replaceAll(/\s+/g, ' ')
  return line.length > 70 ? `${line.slice(0, 67)}...` : line
}
