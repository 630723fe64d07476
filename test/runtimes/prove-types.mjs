// Proves the types of the package with one version of the compiler: a host that is an ES module with a plugin that is a
// CommonJS module (types/), and every entry imported both ways, in strict programs that check the declarations too and have
// no types of Node. Then with what else hosts have: every resolution of modules that this compiler has, and `strict` off.
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
symlinkSync(join(root, 'schema'), join(project, 'node_modules/forgelet/schema'))
cpSync(join(import.meta.dirname, 'types'), project, { recursive: true })
writeFileSync(join(project, 'entries.mts'), entries.flatMap(bothWays).join('\n'))
writeFileSync(
  join(project, 'imports.ts'),
  [
    ...entries.map((entry, index) => `export * as m${index} from '${entry}'`),
    "export type Json = typeof import('forgelet/schema/issue.json')",
  ].join('\n'),
)

const { version } = JSON.parse(readFileSync(join(folder, 'node_modules/typescript/package.json'), 'utf8'))
/** Version 6 calls it old, 7 does not have it. */
const node10 = {
  module: 'commonjs',
  moduleResolution: 'node10',
  ...(version.startsWith('6') && { ignoreDeprecations: '6.0' }),
}
const resolutions = [
  { module: 'node16' },
  { module: 'esnext', moduleResolution: 'bundler' },
  ...(version.startsWith('7') ? [] : [node10]),
]
const strict = { files: ['entries.mts', 'host.mts', 'plugin.cts'], strict: true, noUncheckedIndexedAccess: true }
const settings = [
  { ...strict, module: 'nodenext', exactOptionalPropertyTypes: true },
  { ...strict, module: 'nodenext', exactOptionalPropertyTypes: false },
  ...[true, false].flatMap((isStrict) =>
    resolutions.map((one) => ({ files: ['imports.ts', 'host.ts'], resolveJsonModule: true, strict: isStrict, ...one })),
  ),
]

const report = new Report()
await report.run(
  settings.map(({ files, ...options }) => ({
    name: JSON.stringify(options),
    run: async () => compile(files, options),
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

function compile(files, options) {
  const compilerOptions = {
    ...options,
    skipLibCheck: false,
    noEmit: true,
    preserveSymlinks: true,
    types: [],
    lib: ['es2023', 'dom', 'dom.iterable'],
    target: 'es2022',
  }
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
  const tsc = join(folder, 'node_modules/typescript/bin/tsc')
  const { status, stdout, stderr } = spawnSync(process.execPath, [tsc, '-p', project], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stdout + stderr)
}
