import { mkdir, readdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { mistakesIn } from '../compiler.ts'
import { MARIADB, newDatabase, POSTGRES } from '../databases.ts'
import { newFolder } from '../start-forgelet.ts'
import { writeInputs } from './inputs.ts'
import { codeOf, ROOT, readPage } from './page.ts'
import { installIn, isShown, runPage, writePage } from './run-page.ts'

// The blocks of the manual, the README and the skill are compiled and run as they stand, against the built package (dist/), and print what
// the page says. `page.ts` has the rules.

const names = (await readdir(join(ROOT, 'docs/manual'))).filter((name) => /^\d.*\.md$/.test(name)).sort()
const pages = ['README.md', 'skills/forgelet/SKILL.md', ...names.map((name) => `docs/manual/${name}`)].map((path) =>
  readPage(path),
)
let folder: string

beforeAll(async () => {
  folder = await newFolder()
  await installIn(folder)
})

test('the TypeScript of the pages compiles', { timeout: 120_000 }, async () => {
  const files: string[] = []
  for (const page of pages) {
    const place = join(folder, `${page.name}-types`)
    await mkdir(place, { recursive: true })
    await writePage(page, place)
    await writeInputs(page, place)
    files.push(...[...page.files.keys()].filter((name) => name.endsWith('.ts')).map((name) => join(place, name)))
  }

  expect(files.length).toBeGreaterThan(15)
  const compilerOptions = {
    paths: {}, // a page imports the package
    isolatedDeclarations: false, // a page names no types that it need not name
    declaration: false,
    sourceMap: false,
    typeRoots: [join(folder, 'node_modules/@types')],
    preserveSymlinks: true,
  }
  expect(mistakesIn(folder, { extends: join(ROOT, 'tsconfig.json'), compilerOptions, files })).toBe('')
})

// Most of a page is waiting for programs that start.
for (const page of pages) {
  const uses = (variable: string): boolean => codeOf(page.blocks).includes(variable)
  const needed = [POSTGRES, MARIADB].filter((kind) => uses(kind === POSTGRES ? 'POSTGRES_URL' : 'MARIADB_URL'))
  const missing = needed.filter(({ server }) => !process.env[server.variable])
  const isLeftOut = missing.length > 0 && process.env['FORGELET_REQUIRE_DB'] !== '1'

  const options = { timeout: 120_000, concurrent: true }
  test.skipIf(isLeftOut)(`${page.path} prints what it says`, options, async (context) => {
    const atEnd = context.onTestFinished
    const place = join(folder, page.name)
    await mkdir(place)
    await symlink('../node_modules', join(place, 'node_modules'))
    await writeInputs(page, place)
    const environment: Record<string, string> = {}
    if (uses('POSTGRES_URL')) environment['POSTGRES_URL'] = (await newDatabase(POSTGRES, { atEnd })).url
    if (uses('MARIADB_URL')) environment['MARIADB_URL'] = (await newDatabase(MARIADB, { atEnd })).url

    const printed = await runPage(page, place, environment)
    const others = printed.filter((block) => !isShown(block.printed, block.expected))
    context.expect(others.map((block) => ({ at: `${page.path}:${block.line}`, ...block }))).toEqual([])
  })
}
