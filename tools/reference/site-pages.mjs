import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

// The pages of the site in the order in which they are read, and what language models get of them.

/** The pages by part: the path in the repository, the title, and the first sentence. */
export function sitePages(root) {
  const manual = markdownIn(root, 'docs/manual')
  const background = markdownIn(root, 'docs')
  const decisions = markdownIn(root, 'docs/decisions')
  const rank = (path) => (path.endsWith('/index.md') ? 0 : path.includes('/forgelet') ? 2 : 1)
  const reference = markdownIn(root, 'docs/reference').toSorted((a, b) => rank(a) - rank(b))
  const parts = {
    Manual: manual,
    Reference: reference,
    Background: [
      ...background,
      'examples/README.md',
      'ARCHITECTURE.md',
      'CONTRIBUTING.md',
      'CHANGELOG.md',
      'SECURITY.md',
      ...decisions,
    ],
  }
  return Object.entries(parts).map(([part, paths]) => ({ part, pages: paths.map((path) => pageAt(root, path)) }))
}

function markdownIn(root, folder) {
  const names = readdirSync(join(root, folder)).filter((name) => name.endsWith('.md'))
  return names.sort().map((name) => `${folder}/${name}`)
}

function pageAt(root, path) {
  const text = readFileSync(join(root, path), 'utf8')
  const [, title] = /^# (.+)$/m.exec(text) ?? [undefined, path]
  const paragraph = text.split(/\n\n+/).find((block) => /^(?!```)[A-Z`[]/.test(block)) ?? ''
  const [summary] = paragraph.replace(/\s+/g, ' ').split(/(?<=[.:]) (?=[A-Z`])/)
  return { path, title, text, summary: summary.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/:$/, '.') }
}

/**
 * The texts for language models, by path: a list of all pages, and the manual in one file, which fits into a context. The
 * reference would not: it is read page by page.
 */
export function modelTexts(root) {
  const { summary } = pageAt(root, 'README.md')
  const parts = sitePages(root)
  const lists = parts.map(({ part, pages }) => {
    const lines = pages.map(({ path, title, summary: about }) => `- [${title}](${path})${about && `: ${about}`}`)
    return `## ${part}\n\n${lines.join('\n')}\n`
  })
  const { pages: manual } = parts.find(({ part }) => part === 'Manual')
  return {
    'llms.txt': `# forgelet\n\n> ${summary}\n\n${lists.join('\n')}`,
    'llms-full.txt': manual.map(({ path, text }) => `<!-- ${path} -->\n\n${text}`).join('\n'),
  }
}
