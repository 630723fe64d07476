import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const require = createRequire(import.meta.url)

/** Lints an OpenAPI document with redocly, by the rules in redocly.yaml. Returns its complaints: `""` when it has none. */
export function lint(document: object): string {
  const folder = mkdtempSync(join(tmpdir(), 'openapi-'))
  try {
    const file = join(folder, 'openapi.json')
    writeFileSync(file, JSON.stringify(document))
    return complaints(file)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function complaints(file: string): string {
  const program = join(dirname(require.resolve('@redocly/cli/package.json')), 'bin/cli.js')
  const config = join(import.meta.dirname, 'redocly.yaml')
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'lint', file, '--config', config], {
    encoding: 'utf8',
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', NO_COLOR: '1' },
  })
  return status === 0 && !/warning|error/i.test(stdout) ? '' : stdout + stderr
}
