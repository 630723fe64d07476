import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { ROOT } from '../manual/page.ts'
import { INSTALLATION, installPackages, packageFolder, packInto } from '../packages.ts'
import { install, RUNTIMES } from '../runtimes/runtimes.mjs'

// A host that may use its own files alone.

const PROGRAM = `
import { DatabaseSync } from 'node:sqlite'
import { openKeyFile } from 'forgelet/signing-keys'
import { sqliteStorage } from 'forgelet/storage/sqlite'

for (const file of [':memory:', process.argv[2]]) {
  const storage = sqliteStorage(new DatabaseSync(file))
  await storage.migrate()
  console.log((await storage.schemaStatus()).state)
  await storage.close()
}
await openKeyFile('/etc/hostname').catch(({ code }) => console.log(code))
process.exit()
`
/** How a runtime is told that a program may read a folder, and write in another. */
const FLAGS: readonly (readonly [runtime: RegExp, flags: (reads: string, writes: string) => readonly string[]])[] = [
  [/^Node 26/, (reads, writes) => ['--permission', `--allow-fs-read=${reads}`, `--allow-fs-write=${writes}`]],
  [
    /^Deno/,
    (reads, writes) => ['run', '--no-prompt', '--allow-env', `--allow-read=${reads}`, `--allow-write=${writes}`],
  ],
]

const folder = packageFolder()
beforeAll(() => {
  installPackages(folder, [packInto(folder)])
  mkdirSync(join(folder, 'data'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'program.mjs'), PROGRAM)
}, INSTALLATION)

const cache = join(ROOT, 'node_modules/.cache/forgelet/runtimes')
const runtimes = FLAGS.flatMap(([name, flags]) =>
  RUNTIMES.filter((runtime) => name.test(runtime.name)).map((runtime) => ({ name: runtime.name, runtime, flags })),
)

test.each(runtimes)(
  '$name opens databases in memory and in its own folder, and no key elsewhere',
  { timeout: INSTALLATION },
  ({ runtime, flags }) => {
    const { program } = install(runtime, cache)
    const data = join(folder, 'data')
    const words = [...flags(folder, data), 'program.mjs', join(data, `${runtime.name}.sqlite`)]
    const said = execFileSync(program, words, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

    expect(said.trim().split('\n')).toEqual(['current', 'current', 'SIGNING_KEY_UNREADABLE'])
  },
)
