import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'

// What no program that makes the pages sees: the check of the reference and the build of the site see the rest.

const ROOT = resolve(import.meta.dirname, '../..')

it('the reference has every environment variable that the command reads', () => {
  const page = readFileSync(join(ROOT, 'docs/reference/command-line.md'), 'utf8')
  const [, table = ''] = page.split('\n## Environment variables\n')
  const command = readFileSync(join(ROOT, 'src/cli/cli.ts'), 'utf8')
  const variables = [...command.matchAll(/process\.env\['(\w+)'\]/g)]

  expect(variables.length).toBeGreaterThan(0)
  for (const [, name] of variables) expect(table).toContain(`\n| \`${name}\` |`)
})

it('the pages link to files and headings that exist', () => {
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

/** The anchors of the headings of a page. The second of the same text ends in -1. */
function anchorsIn(text: string): ReadonlySet<string> {
  const anchors = new Set<string>()
  for (const [, heading = ''] of text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.+)$/gm)) {
    const slug = slugOf(heading.replaceAll('`', '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1'))
    anchors.add(anchors.has(slug) ? `${slug}-1` : slug)
  }
  return anchors
}

/** The anchor of a heading, as GitHub makes it. */
function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
}
