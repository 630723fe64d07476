import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const TSC = resolve(import.meta.dirname, '../node_modules/typescript7/bin/tsc')

/**
 * What the compiler that `npm run typecheck` runs says of a program: nothing, if it finds no mistake.
 *
 * @param folder - where its configuration is written
 */
export function mistakesIn(folder: string, configuration: object): string {
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ include: [], ...configuration }))
  const { status, stdout, stderr } = spawnSync(process.execPath, [TSC, '-p', folder], { encoding: 'utf8' })
  return status === 0 ? '' : stdout + stderr
}
