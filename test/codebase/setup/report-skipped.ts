// Says once a run, and loudly, which database servers its tests have to do without: what was not proven shall not be
// taken for proven.
import { readFileSync } from 'node:fs'
import type { TestProject } from 'vitest/node'
import { SERVERS, serversAreRequired, urlOf } from '../../storage/databases/servers.ts'

export async function setup(project: TestProject): Promise<void> {
  if (serversAreRequired()) return

  const names = process.argv.slice(2).filter((word) => !word.startsWith('-') && word !== 'run')
  const { testFiles } = await project.globTestFiles(names)
  const texts = testFiles.map((file) => readFileSync(file, 'utf8'))
  for (const [key, server] of Object.entries(SERVERS)) {
    if (urlOf(server) !== undefined || !texts.some((text) => needs(text, key))) continue
    process.stderr.write(`\nSKIPPED: what needs a ${server.name} server: set ${server.variable}\n`)
  }
}

/** By how tests ask for a server: for one, for each kind there is, or as the tests of one driver do. */
function needs(text: string, key: string): boolean {
  const suite = `on${key.charAt(0).toUpperCase()}${key.slice(1)}(`
  return [`onServer(SERVERS.${key}`, 'onServer(kind.server', suite].some((call) => text.includes(call))
}
