import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const require = createRequire(import.meta.url)

/**
 * Lints OpenAPI documents with redocly, by the rules in redocly.yaml, in one run: its start takes longer than a document. Returns
 * its complaints: `""` when it has none.
 */
export function lint(...documents: readonly object[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'openapi-'))
  try {
    const files = documents.map((document, index) => {
      const file = join(folder, `openapi-${index}.json`)
      writeFileSync(file, JSON.stringify(document))
      return file
    })
    return complaints(files)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function complaints(files: readonly string[]): string {
  const program = join(dirname(require.resolve('@redocly/cli/package.json')), 'bin/cli.js')
  const config = join(import.meta.dirname, 'redocly.yaml')
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'lint', ...files, '--config', config], {
    encoding: 'utf8',
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', NO_COLOR: '1' },
  })
  return status === 0 && !/warning|error/i.test(stdout) ? '' : stdout + stderr
}
