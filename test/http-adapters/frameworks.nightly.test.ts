import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { mountContract } from '../../app/testing/testing.ts'
import { freePort } from '../http.ts'
import { codeOf, pageOf, ROOT, readPage } from '../manual/page.ts'
import { INSTALLATION, installPackages, packageFolder, packInto } from '../packages.ts'
import { install, RUNTIMES } from '../runtimes/runtimes.mjs'
import type { Framework } from './frameworks.ts'
import { FRAMEWORKS } from './frameworks.ts'

// The programs of docs/frameworks.md, each in a folder of its own with its framework and the packed package, built and started by the
// commands of the page, under the mount contract. They run on a Node that runs TypeScript, or on Bun.

const page = readPage('docs/frameworks.md')
const sections = new Map(page.text.split(/^## /m).map((text) => [text.slice(0, text.indexOf('\n')), text]))
const cache = join(ROOT, 'node_modules/.cache/forgelet/runtimes')
/** What the host of the page has. */
const KNOWN = {
  services: ['pins', 'blocks', 'badges', 'signing-keys'],
  authorization: 'Bearer olga-token',
  organization: 'acme',
  users: ['mia', 'noor'],
  repository: 'acme/rocket',
  elsewhere: [{ path: '/', text: 'your page' }],
} as const
/** How long a program may take until it serves, in milliseconds. */
const PATIENCE = 60_000

test('every program of the page is run', () => {
  const shown = [...sections].filter(([, text]) => text.includes('```sh')).map(([title]) => title)

  expect(new Set(FRAMEWORKS.map(({ section }) => section))).toEqual(new Set(shown))
})

let forgelet: string
const packed = packageFolder()
beforeAll(() => {
  forgelet = packInto(packed)
})

for (const framework of FRAMEWORKS) {
  describe(framework.name, () => {
    const folder = packageFolder()
    let port = 0
    beforeAll(async () => {
      port = await freePort()
      installPackages(folder, [forgelet, ...framework.packages])
      const server = await started(framework, folder, port)
      return async () => {
        const closed = once(server, 'close')
        process.kill(-(server.pid ?? 0), 'SIGKILL')
        await closed
      }
    }, INSTALLATION)

    const start = async () => ({ origin: `http://127.0.0.1:${port}`, prefix: '/api/v1', stop: async () => undefined })
    for (const { name, run } of mountContract(start, KNOWN)) {
      if (framework.excepted?.includes(name) !== true) test(name, run)
      else test(`${name}: not here`, async () => await expect(run()).rejects.toThrow('fix: '))
    }
  })
}

/** Writes a program into its folder, runs the commands of its section, and waits until its page is there. */
async function started(framework: Framework, folder: string, port: number): Promise<ChildProcess> {
  const { section, files, change = (text) => text } = framework
  const program = pageOf(section, sections.get(section) ?? '')
  const api = pageOf('api', page.text.slice(0, page.text.indexOf('\n## ')))
  const parts = [...api.files, ...program.files].map(([name, blocks]) => [name, codeOf(blocks)] as const)
  const written = [['package.json', '{"type":"module"}'], ...Object.entries(files ?? {}), ...parts] as const
  for (const [name = '', text = ''] of written) {
    const file = join(folder, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, change(text).replaceAll('3000', String(port)))
  }
  const commands = program.blocks.filter(({ language }) => language === 'sh')
  const server = shell(change(codeOf(commands)).replaceAll('3000', String(port)).replaceAll(' &\n', '\n'), folder)
  let said = ''
  for (const stream of [server.stdout, server.stderr]) stream?.on('data', (text) => (said += text))
  for (const deadline = Date.now() + PATIENCE; ; await setTimeout(100)) {
    const reply = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined)
    if (reply?.ok) return server
    if (server.exitCode !== null || Date.now() > deadline) throw new Error(`it does not serve: ${said}`)
  }
}

/** Runs commands with a newer Node, with Bun and with what is installed in a folder, but does not install. */
function shell(commands: string, folder: string): ChildProcess {
  const programs = RUNTIMES.filter(({ name }) => /^(Node 26|Bun)/.test(name)).map((runtime) =>
    dirname(install(runtime, cache).program),
  )
  const PATH = [join(folder, 'node_modules/.bin'), ...programs, process.env['PATH']].join(':')
  const noInstallation = 'set -e\nnpm() { :; }\nbun() { [ "$1" = add ] || command bun "$@"; }\n'
  return spawn('bash', ['-c', noInstallation + commands], {
    cwd: folder,
    detached: true,
    env: { ...process.env, PATH, NODE_ENV: 'production', NODE_NO_WARNINGS: '1', ASTRO_TELEMETRY_DISABLED: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}
