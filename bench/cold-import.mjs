// How much longer does a process take that imports forgelet than one that does nothing? Each operation is a process.
import { strictEqual } from 'node:assert'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { compare, interleave } from './harness.mjs'

const ENTRIES = [
  { entry: 'forgelet', reach: '<= 1.3' },
  { entry: 'forgelet/http' },
  { entry: 'forgelet/node' },
  { entry: 'forgelet/storage/sqlite' },
]

/** Measures cold imports. */
export async function measure({ slices }) {
  const sides = Object.fromEntries(ENTRIES.map(({ entry }) => [entry, processSide(`import '${entry}'`)]))
  const measured = await interleave({ nothing: processSide(''), ...sides }, { slices })
  return ENTRIES.map(({ entry, reach }) =>
    compare(measured, {
      work: `import "${entry}"`,
      floor: 'an empty process of Node',
      of: [entry, 'nothing'],
      reach,
      as: 'cost',
    }),
  )
}

/** Starts a process; its CPU time is what it prints at its end. */
function processSide(code) {
  const run = () => {
    const start = performance.now()
    const child = spawnSync(process.execPath, ['--input-type=module', '-e', `${code}\n${PRINT_CPU}`], {
      cwd: join(import.meta.dirname, '..'),
      encoding: 'utf8',
    })
    strictEqual(child.status, 0, child.stderr)
    return { cpu: Number(child.stdout), wall: (performance.now() - start) * 1000 }
  }
  return { warmUp: () => run(), slice: () => run() }
}

const PRINT_CPU = 'const { user, system } = process.cpuUsage(); process.stdout.write(String(user + system))'
