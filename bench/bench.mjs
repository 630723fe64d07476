// Measures forgelet against the same work by hand, and writes the figures of docs/performance.md.
//
//   npm run bench                    everything, in some minutes
//   npm run bench -- --slices 80     more slices, for a smaller spread
//   npm run bench -- http exchange   only these; the other figures stay
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startProcess } from './harness.mjs'

/** In the order of the table. Each module exports `measure({ slices })`, which returns rows as `compare` makes them. */
const MEASUREMENTS = ['http', 'postgres', 'tables', 'exchange', 'exchange-database']
const PAGE = join(import.meta.dirname, '../docs/performance.md')

const { values, positionals } = parseArgs({
  options: {
    slices: { type: 'string', default: '40' },
    apart: { type: 'string' }, // a measurement to make in this process, for the one that started it
  },
  allowPositionals: true,
})

if (values.apart === undefined) await measureAll(positionals.length === 0 ? MEASUREMENTS : positionals)
else {
  const { measure } = await import(`./${values.apart}.mjs`)
  process.send(await measure({ slices: Number(values.slices) }))
}

async function measureAll(names) {
  for (const name of names) {
    const start = performance.now()
    // In a process of its own: what ran before decides how Node has compiled what is measured.
    const apart = ['--apart', name, '--slices', values.slices]
    const { message: rows } = await startProcess(import.meta.filename, apart)
    console.log(`\n${name}, ${((performance.now() - start) / 1000).toFixed(0)} s`)
    for (const row of rows) write(row)
  }
  const date = new Date().toISOString().slice(0, 10)
  replaceLine(
    'Last measured',
    ` on ${date} with Node ${process.version} on ${cpus().length} cores that also did other work.`,
  )
}

/** Prints a row, and writes it in place of the one of the same work and floor. */
function write({ work, floor, ratio, low, high, cpu, wall, reach }) {
  const [shown, least, most, requests] = [ratio, low, high, wall].map((value) => value.toFixed(2))
  const goal = `≥ ${reach}${ratio < reach ? ', missed' : ''}`
  console.log(`${shown} [${least}-${most}] ${goal}  ${work} / ${floor}  (CPU ${cpu.toFixed(2)}, time ${requests})`)
  replaceLine(`| ${work} | ${floor} |`, ` ${shown} | ${least} to ${most} | ${requests} | ${goal} |`)
}

/** Writes the end of the line of the page that begins so. */
function replaceLine(begin, end) {
  const lines = readFileSync(PAGE, 'utf8').split('\n')
  const at = lines.findIndex((line) => line.startsWith(begin))
  if (at === -1) throw new Error(`${PAGE} needs a line that begins with: ${begin}`)
  writeFileSync(PAGE, lines.with(at, begin + end).join('\n'))
}
