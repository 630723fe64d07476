import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { createProgram } from '../../src/cli/program.ts'
import { errorStatus } from '../../src/http-adapters/routes/error-status.ts'
import { routeTable } from '../../src/http-adapters/routes/route-table.ts'
import tsup from '../../tsup.config.ts'

// The reference is generated, and .ci/run checks that it is fresh. Here it is held against the code, by other means than
// those of the generator: nothing is missing.

const ROOT = resolve(import.meta.dirname, '../..')
const FOLDER = join(ROOT, 'docs/reference')
const pages = new Map(readdirSync(FOLDER).map((name) => [name, readFileSync(join(FOLDER, name), 'utf8')]))

function page(name: string): string {
  return pages.get(`${name}.md`) ?? ''
}

/** The part of a page below a heading, up to the next heading of its level or a higher one. */
function below(text: string, heading: string): string {
  const level = heading.split(' ', 1)[0]?.length ?? 0
  const start = `\n${text}`.indexOf(`\n${heading}\n`)
  if (start === -1) return ''
  const rest = text.slice(start + heading.length)
  const end = rest.search(new RegExp(`^#{1,${level}} `, 'm'))
  return end === -1 ? rest : rest.slice(0, end)
}

function entriesOfPackage(): Readonly<Record<string, string>> {
  const { entry } = tsup.dts as { readonly entry: Readonly<Record<string, string>> }
  return entry
}

const sources = ts.createProgram(
  Object.values(entriesOfPackage()).map((file) => join(ROOT, file)),
  { module: ts.ModuleKind.NodeNext, allowImportingTsExtensions: true, noEmit: true, types: ['node'], strict: true },
)
const checker = sources.getTypeChecker()

function exportsOf(file: string): readonly ts.Symbol[] {
  const module = checker.getSymbolAtLocation(sources.getSourceFile(join(ROOT, file)) as ts.Node)
  return checker.getExportsOfModule(module as ts.Symbol)
}

function declared(symbol: ts.Symbol): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
}

/** The place where an export is described: the section that the index links to. */
function sectionOf(entry: string, name: string): string {
  const list = below(page('index'), `## ${entry}`)
  const [, file = '', anchor] = new RegExp(`^\\| \\[\`${name}\`\\]\\(([\\w-]+)\\.md#([\\w-]+)\\)`, 'm').exec(list) ?? []
  const heading = [...page(file).matchAll(/^### (.*)$/gm)].find(([, text = '']) => slugOf(text) === anchor)
  return heading === undefined ? '' : below(page(file), heading[0])
}

/** The anchor of a heading, as GitHub makes it. */
function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
}

describe('the reference', () => {
  it.each(Object.entries(entriesOfPackage()))('has every export and every property of the entry %s', (key, file) => {
    const entry = key === 'index' ? 'forgelet' : `forgelet/${key}`
    const missing = exportsOf(file).flatMap((symbol) => {
      const section = sectionOf(entry, symbol.name)
      if (section === '') return [symbol.name]
      const interfaces = declared(symbol).declarations?.filter(ts.isInterfaceDeclaration) ?? []
      const members = interfaces.flatMap(({ members: all }) => all.flatMap((member) => member.name?.getText() ?? []))
      const isThere = (name: string) =>
        [`| \`${name}\`<br>`, `| \`${name}?\`<br>`, `| \`writable ${name}`].some((row) => section.includes(row)) ||
        new RegExp(`^#### .*\\.${name.replace(/[[\]]/g, '').replace(/[$.]/g, '\\$&')}$`, 'm').test(section)
      return members.filter((name) => !isThere(name)).map((name) => `${symbol.name}.${name}`)
    })

    expect(missing).toEqual([])
  })

  it('has every error code, with its status, its cause and what to do', () => {
    const wrong = Object.entries(errorStatus).filter(([code, status]) => {
      const section = below(page('errors'), `## ${code}`)
      return !new RegExp(
        `\\*\\*Status\\*\\* ${status}\n\n\\*\\*Cause\\*\\* \\S[\\s\\S]*\\*\\*What to do\\*\\* \\S`,
      ).test(section)
    })

    expect(wrong).toEqual([])
  })

  it('has every event type, with its subject and its data', () => {
    const data = exportsOf('src/index.ts').find(({ name }) => name === 'ForgeEventData') as ts.Symbol
    const types = [...(declared(data).members?.keys() ?? [])].map(String)
    const wrong = types.filter(
      (type) => !/\*\*Subject\*\* .*\n\n\*\*Data\*\* /.test(below(page('events'), `## ${type}`)),
    )

    expect([types.length > 10, wrong]).toEqual([true, []])
  })

  it('has every endpoint, with an example of its bodies', () => {
    const wrong = routeTable.filter(({ method, path }) => {
      const section = below(page('endpoints'), `### ${method} ${path}`)
      const examples = [...section.matchAll(/^```json\n([\s\S]*?)\n```$/gm)]
      for (const [, example = ''] of examples) JSON.parse(example)
      const hasBody = section.includes('**Body**')
      return !section.includes('**20') || examples.length < (hasBody ? 1 : 0)
    })

    expect(wrong).toEqual([])
  })

  it('has every command with its options, every exit code and every environment variable', () => {
    const text = page('command-line')
    const missing = commands().flatMap(({ path, command }) => {
      const section = below(text, `## ${path}`)
      const flags = command.options.map((option) => `| \`${option.flags.replaceAll('|', '\\|')}\` |`)
      return flags.filter((row) => !section.includes(row)).map((row) => `${path}: ${row}`)
    })
    const variables = [...readFileSync(join(ROOT, 'src/cli/cli.ts'), 'utf8').matchAll(/process\.env\['(\w+)'\]/g)]

    expect(missing).toEqual([])
    expect(variables.length).toBeGreaterThan(0)
    for (const [, name] of variables) expect(below(text, '## Environment variables')).toContain(`| \`${name}\` |`)
    for (const code of [0, 1, 2, 3]) expect(below(text, '## Exit codes')).toContain(`| ${code} |`)
  })
})

describe('the pages', () => {
  it('link to files and headings that exist', () => {
    const files = [
      ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
      ...['docs', 'examples'].flatMap((folder) =>
        readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
          .filter((name) => name.endsWith('.md'))
          .map((name) => `${folder}/${name}`),
      ),
    ]
    const texts = new Map(files.map((file) => [join(ROOT, file), readFileSync(join(ROOT, file), 'utf8')]))
    const anchors = new Map([...texts].map(([path, text]) => [path, anchorsIn(text)]))
    const dead = [...texts].flatMap(([path, text]) =>
      [...text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/\]\((?!https?:)([\w./-]*)(?:#([^)]+))?\)/g)]
        .filter(([, to = '', anchor]) => {
          const target = to === '' ? path : join(path, '..', to)
          return !existsSync(target) || (anchor !== undefined && anchors.get(target)?.has(anchor) !== true)
        })
        .map(([link]) => `${path.slice(ROOT.length + 1)}: ${link}`),
    )

    expect(dead).toEqual([])
  })
})

/** The anchors of the headings of a page. The second of the same text ends in -1. */
function anchorsIn(text: string): ReadonlySet<string> {
  const anchors = new Set<string>()
  for (const [, heading = ''] of text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.+)$/gm)) {
    const slug = slugOf(heading.replaceAll('`', '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1'))
    anchors.add(anchors.has(slug) ? `${slug}-1` : slug)
  }
  return anchors
}

type Command = ReturnType<typeof createProgram>

function commands(): readonly { readonly path: string; readonly command: Command }[] {
  const io = {} as Parameters<typeof createProgram>[0]
  const under = (command: Command, path: string): ReturnType<typeof commands> =>
    command.commands.length === 0
      ? [{ path, command }]
      : command.commands.flatMap((sub) => under(sub, `${path} ${sub.name()}`))
  return under(
    createProgram(io, async () => undefined),
    'forgelet',
  )
}
