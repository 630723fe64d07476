// Measures forgelet against the same work by hand, and writes bench/results.json, and docs/performance.md with its charts.
//
//   npm run build && npm run bench   everything, in some minutes
//   npm run bench -- --slices 80     more slices, for a smaller spread
//   npm run bench -- http growth     only these; the other figures stay
//   npm run bench -- --page          nothing: writes the page again from bench/results.json
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startProcess } from './harness.mjs'
import { writePage } from './page.mjs'

/**
 * In the order of the table. Each module exports `measure({ slices })`, which returns rows as `compare` makes them; that of the
 * growth from 1,000 to 1,000,000 rows returns what the second chart shows.
 */
const MEASUREMENTS = ['http', 'reads', 'postgres', 'tables', 'cold-import', 'exchange', 'exchange-database', 'growth']
const RESULTS = join(import.meta.dirname, 'results.json')

const { values, positionals } = parseArgs({
  options: {
    slices: { type: 'string', default: '40' },
    page: { type: 'boolean', default: false },
    apart: { type: 'string' }, // a measurement to make in this process, for the one that started it
  },
  allowPositionals: true,
})
const slices = Number(values.slices)

if (values.apart !== undefined) {
  const { measure } = await import(`./${values.apart}.mjs`)
  process.send(await measure({ slices }))
} else {
  if (!values.page) await measureAll(positionals.length === 0 ? MEASUREMENTS : positionals)
  writePage(readResults())
}

async function measureAll(names) {
  const unknown = names.filter((name) => !MEASUREMENTS.includes(name))
  if (unknown.length > 0) throw new TypeError(`unknown: ${unknown}; there are ${MEASUREMENTS}`)
  refuseOldBuild()

  for (const name of names) {
    const start = performance.now()
    // In a process of its own: what ran before decides how Node has compiled what is measured.
    const apart = ['--apart', name, '--slices', values.slices]
    const { message: measured } = await startProcess(import.meta.filename, apart)
    console.log(`\n${name}, ${((performance.now() - start) / 1000).toFixed(0)} s`)
    if (name !== 'growth') print(measured)
    const conditions = {
      date: new Date().toISOString().slice(0, 10),
      node: process.version,
      cores: cpus().length,
      slices,
    }
    const results = { ...readResults(), [name]: { ...conditions, measured } }
    writeFileSync(RESULTS, `${JSON.stringify(results, rounded, 2)}\n`)
  }
}

/** What is measured is the package as it is built. */
function refuseOldBuild() {
  const root = join(import.meta.dirname, '..')
  const changed = (file) => statSync(join(root, file)).mtimeMs
  const built = existsSync(join(root, 'dist/index.js')) ? changed('dist/index.js') : 0
  if (readdirSync(join(root, 'src'), { recursive: true }).some((name) => changed(join('src', name)) > built))
    throw new Error('the build is older than the sources: npm run build')
}

function readResults() {
  const stored = JSON.parse(readFileSync(RESULTS, 'utf8'))
  return Object.fromEntries(MEASUREMENTS.map((name) => [name, stored[name]]))
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
