import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeAll, describe } from 'vitest'
import { installPackages, packageFolder, packInto } from '../../packages.ts'
import { copyNativeDriver, ROOT, servesElsewhere } from './served.ts'

// What these frameworks build of a host with the packed package, served where no source is and no package but what they copied.

const METHODS = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'].map((name) => `handler as ${name}`)
const HOST = 'host.mjs'
const FRAMEWORKS = [
  {
    name: 'Nitro',
    packages: ['nitro@3.0.0', 'vite@7.3.8'],
    files: {
      'package.json': '{ "type": "module" }',
      'nitro.config.js': "export default { preset: 'node_server' }",
      'routes/[...].js': `
import { defineHandler } from 'nitro/h3'
import { handler } from '../${HOST}'
export default defineHandler(({ req: { url, method, headers, body } }) =>
  handler(new Request(url, { method, headers, body, duplex: 'half' })),
)`,
    },
    command: ['nitro', 'build'],
    output: '.output',
    program: 'server/index.mjs',
  },
  {
    name: 'Next',
    packages: ['next@16.4.6', 'react@19.3.1', 'react-dom@19.3.1'],
    files: {
      'package.json': '{}',
      'next.config.mjs': `
const root = import.meta.dirname
export default { output: 'standalone', outputFileTracingRoot: root, turbopack: { root } }`,
      'app/[...path]/route.js': `
import { handler } from '../../${HOST}'
export const dynamic = 'force-dynamic'
export { ${METHODS.join(', ')} }`,
    },
    command: ['next', 'build'],
    output: '.next/standalone',
    program: 'server.js',
  },
]

const packed = packageFolder()
let forgelet = ''
beforeAll(() => {
  forgelet = packInto(packed)
})

describe.each(FRAMEWORKS)('what $name builds', ({ packages, files, command, output, program }) => {
  servesElsewhere(async (folder) => {
    const project = mkdtempSync(join(tmpdir(), 'forgelet-project-'))
    installPackages(project, [forgelet, 'pg@8.23.1', 'mysql2@3.24.5', ...packages])
    copyNativeDriver(project)
    cpSync(join(ROOT, 'test/codebase/bundles/fetch-host.mjs'), join(project, HOST))
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(project, name)), { recursive: true })
      writeFileSync(join(project, name), text)
    }
    const [tool = '', ...words] = command
    const env = { ...process.env, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' }
    execFileSync(join(project, 'node_modules/.bin', tool), words, { cwd: project, stdio: 'pipe', env })
    cpSync(join(project, output), folder, { recursive: true, verbatimSymlinks: true })
    rmSync(project, { recursive: true })
    return join(folder, program)
  })
})
