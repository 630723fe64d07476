// Measures forgelet against the same work by hand, and writes bench/results.json, and docs/performance.md with its charts.
//
//   npm run build && npm run bench   everything, in some minutes
//   npm run bench -- --slices 80     more slices, for a smaller spread
//   npm run bench -- http growth     only these; the other figures stay
//   npm run bench -- --page          nothing: writes the page again from bench/results.json
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { writePage } from './page.mjs'

/** In the order of the table. Each module exports `measure({ slices })`, which returns rows as `compare` makes them. */
const MEASUREMENTS = [
  'http',
  'reads',
  'writes',
  'postgres',
  'serve',
  'cold-import',
  'exchange-reading',
  'exchange',
  'exchange-database',
]
/** Not in the table: the growth from 1,000 to 1,000,000 rows. */
const GROWTH = 'growth'
const RESULTS = join(import.meta.dirname, 'results.json')

const { values, positionals } = parseArgs({
  options: {
    slices: { type: 'string', default: '40' },
    page: { type: 'boolean', default: false },
    apart: { type: 'string' }, // a measurement to make in this process, for the one that started it
  },
  allowPositionals: true,
})

if (values.apart === undefined) refuseOldBuild()
if (values.apart !== undefined) {
  process.send(await measure(values.apart, Number(values.slices)))
} else if (values.page) {
  writePage(readResults())
} else {
  await measureAll(Number(values.slices), positionals.length === 0 ? [...MEASUREMENTS, GROWTH] : positionals)
}

/** What is measured is the package as it is built. */
function refuseOldBuild() {
  const root = join(import.meta.dirname, '..')
  const changed = (file) => statSync(join(root, file)).mtimeMs
  const sources = readdirSync(join(root, 'src'), { recursive: true }).map((name) => join('src', name))
  const built = existsSync(join(root, 'dist/index.js')) ? changed('dist/index.js') : 0
  if (sources.some((source) => changed(source) > built))
    throw new Error('the build is older than the sources: npm run build')
}

async function measureAll(slices, names) {
  const unknown = names.filter((name) => name !== GROWTH && !MEASUREMENTS.includes(name))
  if (unknown.length > 0) throw new TypeError(`unknown: ${unknown}; there are ${MEASUREMENTS} and ${GROWTH}`)

  const results = readResults()
  for (const name of names) {
    const start = performance.now()
    results[name] = { ...conditions(slices), measured: await measureApart(name, slices) }
    console.log(`\n${name}, ${((performance.now() - start) / 1000).toFixed(0)} s`)
    if (name !== GROWTH) print(results[name].measured)
    writeFileSync(RESULTS, `${JSON.stringify(results, rounded, 2)}\n`)
    writePage(readResults())
  }
}

/** Measures in a process of its own: what ran before decides how Node has compiled what is measured. */
async function measureApart(name, slices) {
  const child = fork(import.meta.filename, ['--apart', name, '--slices', String(slices)])
  const left = once(child, 'disconnect').then(() => undefined) // emitted after the last message
  const message = await Promise.race([once(child, 'message'), left])
  if (message === undefined) throw new Error(`${name} ended before it was measured`)
  return message[0]
}

async function measure(name, slices) {
  const module = await import(`./${name}.mjs`)
  return module.measure({ slices })
}

function readResults() {
  const stored = existsSync(RESULTS) ? JSON.parse(readFileSync(RESULTS, 'utf8')) : {}
  return Object.fromEntries([...MEASUREMENTS, GROWTH].map((name) => [name, stored[name]]))
}

function conditions(slices) {
  return { date: new Date().toISOString().slice(0, 10), node: process.version, cores: cpus().length, slices }
}

function print(rows) {
  for (const { work, floor, ratio, low, high, cpu, wall, reach = '' } of rows) {
    const figures = `${ratio.toFixed(2)} [${low.toFixed(2)}-${high.toFixed(2)}]`
    console.log(
      `${figures.padEnd(18)} ${reach.padEnd(9)} ${work} / ${floor}  (CPU ${cpu.toFixed(2)}, time ${wall.toFixed(2)})`,
    )
  }
}

function rounded(_key, value) {
  return typeof value === 'number' ? Number(value.toPrecision(4)) : value
}
