// How much longer does a process take that imports forgelet than one that does nothing? Each operation is a process.
import { strictEqual } from 'node:assert'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { compare, interleave } from './harness.mjs'

const PRINT_CPU = 'const { user, system } = process.cpuUsage(); process.stdout.write(String(user + system))'

/** Measures cold imports. */
export async function measure({ slices }) {
  const entries = ['forgelet', 'forgelet/http', 'forgelet/node', 'forgelet/storage/sqlite']
  const sides = entries.map((entry) => [entry, importing(`import '${entry}'`)])
  const measured = await interleave({ nothing: importing(''), ...Object.fromEntries(sides) }, { slices })
  return entries.map((entry) =>
    compare(measured, {
      work: `import "${entry}"`,
      floor: 'an empty process of Node',
      of: [entry, 'nothing'],
      reach: entry === 'forgelet' ? '<= 1.3' : undefined,
      as: 'cost',
    }),
  )
}

/** Starts a process; its CPU time is what it prints at its end. */
function importing(code) {
  const slice = () => {
    const start = performance.now()
    const child = spawnSync(process.execPath, ['--input-type=module', '-e', `${code}\n${PRINT_CPU}`], {
      cwd: join(import.meta.dirname, '..'),
      encoding: 'utf8',
    })
    strictEqual(child.status, 0, child.stderr)
    return { cpu: Number(child.stdout), wall: (performance.now() - start) * 1000 }
  }
  return { warmUp: slice, slice }
}
