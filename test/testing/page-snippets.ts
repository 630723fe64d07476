import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'

const root = resolve(import.meta.dirname, '../..')

/** The JavaScript of a page of the docs, as files that use the built package (dist/). */
class PageSnippets {
  readonly #page: string
  readonly #packages: readonly string[]
  #folder = ''
  #snippets: readonly string[] = []

  /** @param packages - what the snippets import beside the package */
  constructor(page: string, packages: readonly string[]) {
    this.#page = page
    this.#packages = packages
  }

  async open(): Promise<void> {
    this.#folder = await mkdtemp(join(tmpdir(), 'forgelet-snippets-'))
    await mkdir(join(this.#folder, 'node_modules'))
    await symlink(root, join(this.#folder, 'node_modules/forgelet'))
    for (const name of this.#packages) {
      await symlink(join(root, 'node_modules', name), join(this.#folder, 'node_modules', name))
    }
    const page = await readFile(join(root, this.#page), 'utf8')
    this.#snippets = [...page.matchAll(/```js\n(.*?)```/gs)].map(([, code = '']) => code)
  }

  /** Expects that `node --test` runs a snippet, and that so many of its tests pass. */
  async expectNodeTest(index: number, passing: number): Promise<void> {
    const { code, out } = await this.#run(index, ['--test', '--test-reporter=tap'])

    expect(out).toContain(`# pass ${passing}\n`)
    expect(code).toBe(0)
  }

  /** Expects that vitest runs a snippet, and that none of its tests fails or is skipped. */
  async expectVitest(index: number): Promise<void> {
    const vitest = join(root, 'node_modules/vitest/vitest.mjs')
    const { code, out } = await this.#run(index, [vitest, 'run', '--reporter=json'])
    const report: unknown = JSON.parse(out.slice(out.indexOf('{')))

    expect(report).toMatchObject({ numFailedTests: 0, numPendingTests: 0 })
    expect(code).toBe(0)
  }

  async close(): Promise<void> {
    await rm(this.#folder, { recursive: true })
  }

  async #run(index: number, args: readonly string[]): Promise<{ readonly code: unknown; readonly out: string }> {
    const file = `snippet-${index}.test.mjs`
    await writeFile(join(this.#folder, file), this.#snippets[index] ?? '')
    const child = spawn(process.execPath, [...args, file], { cwd: this.#folder, stdio: ['ignore', 'pipe', 'inherit'] })
    let out = ''
    child.stdout.on('data', (chunk) => {
      out += chunk
    })
    const [code] = await once(child, 'close')
    return { code, out }
  }
}

/** Defines tests of the snippets of a page, which run as they stand under the runners that they name. */
export function onSnippets(page: string, packages: readonly string[], suite: (snippets: PageSnippets) => void): void {
  describe(`the snippets of ${page}`, () => {
    const snippets = new PageSnippets(page, packages)
    beforeAll(() => snippets.open())
    afterAll(() => snippets.close())
    suite(snippets)
  })
}
