import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { installPackages, packageFolder, packInto } from '../packages.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const BUN = `@oven/bun-${process.platform}-${process.arch === 'arm64' ? 'aarch64' : process.arch}`
const folder = packageFolder()
let packed = ''

beforeAll(() => {
  packed = packInto(folder)
  const managers = ['pnpm@10.20.0', 'yarn@1.22.22', '@yarnpkg/cli-dist@4.12.0', `${BUN}@1.4.5`]
  installPackages(join(folder, 'managers'), ['--ignore-scripts', ...managers])
}, 120_000)

const node = (...words: string[]) => [process.execPath, ...words]
const yarn4 = (word: string) => node(tool('@yarnpkg/cli-dist/bin/yarn.js'), word)
const bun = (...words: string[]) => [tool(`${BUN}/bin/bun`), ...words]

/** How each installs, told to fail where it would warn of a peer if it can, and how a program is run there. */
const MANAGERS = [
  { name: 'npm', words: () => ['npm', 'install', '--strict-peer-deps', '--no-audit', '--no-fund'], run: node },
  { name: 'pnpm', words: () => node(tool('pnpm/bin/pnpm.cjs'), 'install', '--strict-peer-dependencies'), run: node },
  { name: 'yarn 1', words: () => node(tool('yarn/bin/yarn.js'), 'install', '--no-progress'), run: node },
  { name: 'yarn 4', words: () => yarn4('install'), run: () => yarn4('node') }, // the packages stay in zips: Plug'n'Play
  { name: 'bun', words: () => bun('install'), run: bun },
]

/** What a host does with files, and what it prints of them. */
const USE = `
async function use({ readExchange, readIssues }, { openIssueSource, writeGiteaDump, writeIssueFile }, { describeKey, openKeyFile }) {
  await writeIssueFile('issues.json', readIssues(await openIssueSource('dump')))
  await writeGiteaDump('again', readExchange(await openIssueSource('dump')), { owner: 'acme', name: 'rocket' })
  for (const name of ['dump', 'issues.json', 'again', 'dump.tar', 'dump.tar.gz']) {
    const source = await openIssueSource(name)
    for await (const { title } of readIssues(source)) console.log(name, title)
    await source.close()
  }
  console.log((await describeKey(await openKeyFile('key.pub'))).comment)
}
`
const ENTRIES = ['exchange', 'exchange/files', 'signing-keys'].map((name) => `'forgelet/${name}'`)
const PROGRAMS = [
  ['use.mjs', ENTRIES.map((entry, at) => `import * as m${at} from ${entry}`).join('\n'), 'm0, m1, m2'],
  ['use.cjs', '', ENTRIES.map((entry) => `require(${entry})`).join()],
] as const

describe.each(MANAGERS)('$name', ({ name, words, run }) => {
  test.each(['0.1.0', '99.0.0'])(
    'installs beside drivers of version %s without a word about them',
    (version) => {
      const host = join(folder, `${name}-${version}`)
      const drivers = ['better-sqlite3', 'mysql2', 'pg']
      for (const driver of drivers) {
        write(join(host, driver), { name: driver, version })
      }
      const dependencies = Object.fromEntries(drivers.map((driver) => [driver, `file:./${driver}`]))
      write(host, {
        name: 'host',
        version: '1.0.0',
        private: true,
        dependencies: { ...dependencies, forgelet: `file:${packed}` },
      })
      if (name === 'yarn 4') writeFileSync(join(host, 'yarn.lock'), '') // else it takes the folder for a part of another project
      const [program = '', ...rest] = words()
      const { status, stdout, stderr } = spawnSync(program, rest, {
        cwd: host,
        encoding: 'utf8',
        env: { ...process.env, YARN_ENABLE_IMMUTABLE_INSTALLS: 'false', YARN_ENABLE_TELEMETRY: 'false', CI: 'false' },
      })
      const said = `${stdout}${stderr}`

      expect(status, said).toBe(0)
      expect(said.split('\n').filter((line) => /peer|unmet|incorrect/i.test(line))).toEqual([])
    },
    120_000,
  )

  test.each(PROGRAMS)('%s reads and writes files with what was installed', (file, imports, entries) => {
    const host = join(folder, `${name}-0.1.0`)
    cpSync(join(ROOT, 'test/exchange/forges/samples/gitea-dump'), join(host, 'dump'), { recursive: true })
    for (const [kind, options] of Object.entries({ tar: '-cf', 'tar.gz': '-czf' })) {
      execFileSync('tar', [options, `dump.${kind}`, 'dump'], { cwd: host })
    }
    const key = 'AAAAC3NzaC1lZDI1NTE5AAAAIDu8sHu7lDi7SEPJS44FvHkIk4nwGwCAbNF3gsQB5ug5'
    writeFileSync(join(host, 'key.pub'), `ssh-ed25519 ${key} forge`)
    writeFileSync(join(host, file), `${imports}${USE}use(${entries})`)
    rmSync(join(host, 'again'), { recursive: true, force: true })
    const [program = '', ...rest] = [...run(), file]
    const { stdout, stderr } = spawnSync(program, rest, { cwd: host, encoding: 'utf8' })

    const titles = ['dump', 'issues.json', 'again', 'dump.tar', 'dump.tar.gz'].flatMap((of) => [
      `${of} yes`,
      `${of} 0x1F`,
    ])
    expect(stdout.trim().split('\n'), stderr).toEqual([...titles, 'forge'])
  })
})

function tool(path: string): string {
  return join(folder, 'managers/node_modules', path)
}

function write(place: string, manifest: object): void {
  mkdirSync(place, { recursive: true })
  writeFileSync(join(place, 'package.json'), JSON.stringify(manifest))
}
