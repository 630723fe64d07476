import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

// "Source: docs/page.md, Heading" in a comment names where a rule is written down. The page and the heading must exist.

const root = resolve(import.meta.dirname, '../..')

const SOURCE = /Source: (docs\/[\w/-]+\.md)(?:, ([^\n]*))?/g

/** Undefined: there is no such page. */
function headingsOf(page: string): readonly string[] | undefined {
  if (!existsSync(join(root, page))) return undefined
  return [...readFileSync(join(root, page), 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading)
}

/** Whether a text begins with a heading, or with the number of one ("section 3"), and a sentence or the comment ends there. */
function beginsWithHeading(text: string, headings: readonly string[]): boolean {
  const section = /^section (\d+)\b/.exec(text)?.[1]
  if (section !== undefined) return headings.some((heading) => heading.startsWith(`${section}. `))
  return headings.some(
    (heading) => text.startsWith(heading) && /^(?:$|[.,;]| \*\/| @)/.test(text.slice(heading.length)),
  )
}

function wrongSources(text: string): readonly string[] {
  const comments = text.replaceAll(/\n\s*(?:\*(?!\/)|\/\/) /g, ' ') // a reference may go on in the next line
  return [...comments.matchAll(SOURCE)].flatMap(([reference, page = '', place]) => {
    const headings = headingsOf(page)
    const isRight = headings !== undefined && (place === undefined || beginsWithHeading(place, headings))
    return isRight ? [] : reference
  })
}

test('every "Source:" names a page that exists, and a heading on it', () => {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  )
  const wrong = files.flatMap((name) =>
    wrongSources(readFileSync(join(root, 'src', name), 'utf8')).map((wrong) => `${name}: ${wrong}`),
  )

  expect(wrong).toEqual([])
})

test('a page and a heading that do not exist are found', () => {
  expect(wrongSources('/** Source: docs/nowhere.md */')).toHaveLength(1)
  expect(wrongSources('// Source: docs/behaviour.md, Nowhere')).toHaveLength(1)
  expect(wrongSources('// Source: docs/storage.md, section 99')).toHaveLength(1)
  expect(wrongSources('// Source: docs/behaviour.md, Pinsel')).toHaveLength(1)
  expect(wrongSources('/** A rule. Source: docs/behaviour.md, Pins. More of it. */')).toEqual([])
})
