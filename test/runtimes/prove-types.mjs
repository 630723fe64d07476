// Proves the types of the package with one version of the compiler: a host that is an ES module with a plugin that is a
// CommonJS module (types/), and every entry imported both ways, in strict programs that check the declarations too and have
// no types of Node.
// Arguments: the folder where TypeScript is installed, and the folder of the built declarations.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Report } from './report.mjs'

const [folder, dist] = process.argv.slice(2)
const root = resolve(import.meta.dirname, '../..')
const project = join(folder, 'project')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const entries = Object.keys(manifest.exports)
  .map((key) => `forgelet${key.slice(1)}`)
  .filter((entry) => !entry.endsWith('.json'))

rmSync(project, { recursive: true, force: true })
mkdirSync(join(project, 'node_modules/forgelet'), { recursive: true })
cpSync(join(root, 'package.json'), join(project, 'node_modules/forgelet/package.json'))
symlinkSync(dist, join(project, 'node_modules/forgelet/dist'))
cpSync(join(import.meta.dirname, 'types'), project, { recursive: true })
writeFileSync(join(project, 'entries.mts'), entries.flatMap(bothWays).join('\n'))

const report = new Report()
await report.run(
  [true, false].map((exactOptionalPropertyTypes) => ({
    name: `exactOptionalPropertyTypes ${exactOptionalPropertyTypes}`,
    run: async () => compile({ exactOptionalPropertyTypes }),
  })),
)
report.end()

/** An entry has the same types for import and for require. */
function bothWays(entry, index) {
  return [
    `import * as m${index} from '${entry}'`,
    `import c${index} = require('${entry}')`,
    `export const there${index}: typeof m${index} = c${index}, back${index}: typeof c${index} = m${index}`,
  ]
}

function compile(options) {
  const compilerOptions = {
    ...options,
    strict: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    noEmit: true,
    preserveSymlinks: true,
    types: [],
    lib: ['es2023', 'dom', 'dom.iterable'],
    target: 'es2022',
    module: 'nodenext',
    moduleResolution: 'nodenext',
  }
  const files = ['entries.mts', 'host.mts', 'plugin.cts']
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
  const tsc = join(folder, 'node_modules/typescript/bin/tsc')
  const { status, stdout, stderr } = spawnSync(process.execPath, [tsc, '-p', project], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stdout + stderr)
}
