// Proves the package on every runtime it is promised for: `npm run test:runtimes`. Builds the sources, or takes dist as
// it is with FORGELET_TEST_NO_BUILD=1, fetches what is missing of the runtimes, and proves on each its
// SQLite drivers (prove-driver.mjs), the storage of Durable Objects where there are some (prove-durable-object.mjs), and the
// adapters of HTTP (prove-http.mjs). Then it proves the types with every version of the compiler (prove-types.mjs). One line
// a proof; what failed is shown whole, and the exit code is 1.
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { COMPILERS, install, RUNTIMES } from './runtimes.mjs'

const root = resolve(import.meta.dirname, '../..')
const cache = join(root, 'node_modules/.cache/forgelet/runtimes')
/** Milliseconds that one proof may take. */
const PATIENCE = 600_000

const built = build()
const runtimeJobs = RUNTIMES.flatMap((runtime) => {
  const { folder, program } = install(runtime, cache)
  // As if it were installed there: it imports itself by its name, and looks for better-sqlite3 from where it is.
  const home = join(folder, 'node_modules/forgelet')
  const dist = join(home, 'dist')
  rmSync(home, { recursive: true, force: true })
  cpSync(built, dist, { recursive: true })
  cpSync(join(root, 'package.json'), join(home, 'package.json'))
  return proofsOf(runtime, { folder, program, dist })
})
const compilerJobs = COMPILERS.map((compiler) => ({
  title: `types with ${compiler.name}`,
  program: process.execPath,
  args: [beside('prove-types.mjs'), install(compiler, cache).folder, built],
}))
const jobs = [...runtimeJobs, ...compilerJobs]

const lanes = Array.from({ length: Math.min(availableParallelism(), jobs.length) }, work)
await Promise.all(lanes)

async function work() {
  for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) await prove(job)
}

/** What is proven on a runtime: drivers by the runtime itself, the rest by this Node, which talks to it. */
function proofsOf({ name, drivers, args = [], server, hasObjects = false }, { folder, program, dist }) {
  const here = (what, script, given) => ({
    title: `${what} on ${name}`,
    program: process.execPath,
    args: [beside(script), ...given],
  })
  return [
    ...(hasObjects ? [here('Durable Objects', 'prove-durable-object.mjs', [folder, dist])] : []),
    ...drivers.map((driver) => ({
      title: `${driver} on ${name}`,
      program,
      args: [...args, beside('prove-driver.mjs'), driver, dist],
    })),
    here('HTTP', 'prove-http.mjs', [server, program, folder, dist]),
  ]
}

function beside(script) {
  return join(import.meta.dirname, script)
}

async function prove({ title, program, args }) {
  const start = performance.now()
  const { status, output } = await run(program, args)
  const seconds = Math.round((performance.now() - start) / 1000)
  const counts = output.trimEnd().split('\n').at(-1)
  if (status === 0) {
    say(`ok    ${title}: ${counts}  ${seconds} s`)
  } else {
    say(`FAIL  ${title}  ${seconds} s\n${output}`)
    process.exitCode = 1
  }
}

function run(program, args) {
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
    timeout: PATIENCE,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk
    })
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (status) => resolve({ status, output }))
  })
}

function say(line) {
  process.stdout.write(`${line}\n`)
}

function build() {
  const isBuilt = process.env.FORGELET_TEST_NO_BUILD === '1'
  if (!isBuilt) execFileSync('npm', ['run', 'build'], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  return join(root, 'dist')
}
