import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitepress'
import { sitePages } from '../../tools/reference/site-pages.mjs'

// The site: the README, the manual, the reference and the background pages, where they are in the repository, so that
// their links work here, in the package and on a forge. Dead links fail the build.

const ROOT = join(import.meta.dirname, '../..')
const parts = sitePages(ROOT)
const sidebar = parts.map(({ part, pages }) => ({
  text: part,
  collapsed: part !== 'Manual',
  items: pages.map(({ title, path }) => ({ text: title, link: `/${path.replace(/\.md$/, '')}` })),
}))

export default defineConfig({
  title: 'forgelet',
  description: 'Pins, blocks, badges, signing keys and issue exchange of a code forge, as an embeddable library',
  srcDir: '..',
  outDir: '../.site',
  srcExclude: ['{bench,demo,dist,examples,skills,src,test,tools}/**', 'AGENTS.md'],
  ignoreDeadLinks: [/decisions$/, /examples/],
  rewrites: { 'README.md': 'index.md' },
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  metaChunk: true,
  markdown: {
    // As GitHub does it, so that a link to a heading works in both: `errors.md#not_blocked`.
    anchor: {
      slugify: (text) =>
        text
          .trim()
          .toLowerCase()
          .replace(/[^\p{L}\p{N}\s_-]/gu, '')
          .replaceAll(' ', '-'),
    },
    languageAlias: { text: 'txt' },
  },
  themeConfig: {
    nav: parts.map(({ part, pages: [{ path }] }) => ({ text: part, link: `/${path.replace(/\.md$/, '')}` })),
    sidebar,
    outline: [2, 3],
    search: { provider: 'local' },
  },
  /** Pages link to the programs and schemas of the repository. */
  buildEnd({ outDir }) {
    for (const name of ['examples', 'schema', 'LICENSE'])
      cpSync(join(ROOT, name), join(outDir, name), { recursive: true })
  },
})
