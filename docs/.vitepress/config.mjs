import { cpSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { defineConfig } from 'vitepress'
import { sitePages } from '../../tools/reference/site-pages.mjs'

// The site: the README, the manual, the reference and the background pages, where they are in the repository, so that
// their links work here, in the package and on a forge. A dead link fails the build.

const ROOT = join(import.meta.dirname, '../..')
const parts = sitePages(ROOT)
const addressOf = (path) => `/${path.replace(/(README)?\.md$/, '')}`

/**
 * Code and tables use the width that there is, and text stays readable. At 1440 pixels a line of code has 120 characters, and a longer
 * one is wrapped. On a phone code and tables are scrolled, and words in tables stay whole.
 */
const STYLE = `
.VPDoc :is(.container, .content, .content-container) { max-width: none !important }
.VPDoc .aside { max-width: 224px !important }
.vp-doc > div > :is(p, ul, ol, blockquote) { max-width: 48em }
.vp-doc td { vertical-align: top }
.vp-doc hr { display: none }
.vp-doc [class*=language-] code { font-size: 12px; padding: 0 12px }
@media (min-width: 960px) {
  .vp-doc div[class*=language-] code { white-space: pre-wrap }
}
@media (min-width: 1280px) {
  .VPDoc { padding: 40px 16px 0 !important }
  .VPDoc .content { padding: 0 8px 96px !important }
  .VPDoc .aside { padding-left: 16px !important }
}
@media (max-width: 640px) {
  .vp-doc td, .vp-doc th { padding: 6px 8px; min-width: 8em }
  .vp-doc td code { white-space: normal; overflow-wrap: break-word }
}`

export default defineConfig({
  title: 'forgelet',
  description: 'Pins, blocks, badges, signing keys and issue exchange of a code forge, as an embeddable library',
  srcDir: '..',
  outDir: '../.site',
  srcExclude: ['{bench,demo,dist,skills,src,test,tools}/**', 'AGENTS.md'],
  rewrites: (path) => path.replace(/README\.md$/, 'index.md'),
  head: [
    ['link', { rel: 'icon', href: 'data:,' }],
    ['style', {}, STYLE],
  ],
  // One page after the other: the search index is in the order in which pages are read, and so the same each time.
  buildConcurrency: 1,
  markdown: {
    linkify: false,
    attrs: { disable: true }, // a heading may end in {username}
    // As GitHub does it, so that a link to a heading works in both: `errors.md#not_blocked`.
    anchor: {
      slugify: (text) =>
        text
          .trim()
          .toLowerCase()
          .replace(/[^\p{L}\p{N}\s_-]/gu, '')
          .replaceAll(' ', '-'),
    },
    config: linkFiles,
  },
  themeConfig: {
    nav: parts.map(({ part, pages: [{ path }] }) => ({ text: part, link: addressOf(path) })),
    sidebar: parts.map(({ part, pages }) => ({
      text: part,
      collapsed: part === 'Background',
      items: pages.map(({ title, path }) => ({ text: title, link: addressOf(path) })),
    })),
    outline: [2, 3],
    search: { provider: 'local' },
  },
  /** The headings of an export are the same on every page of the reference. */
  transformPageData({ relativePath, frontmatter }) {
    if (relativePath.startsWith('docs/reference/forgelet')) frontmatter.outline = 2
  },
  /** Pages link to the programs and schemas of the repository; language models look for their texts at the root. */
  buildEnd({ outDir }) {
    for (const name of ['examples', 'schema', 'LICENSE', 'llms.txt', 'llms-full.txt']) {
      cpSync(join(ROOT, name), join(outDir, name), { recursive: true, filter: (path) => !path.endsWith('.md') })
    }
  },
})

/** A link to a folder shows its README, as on a forge, and a link to any other file is left as it is. */
function linkFiles(markdown) {
  const render = markdown.renderer.rules.link_open
  markdown.renderer.rules.link_open = (tokens, index, options, env, self) => {
    const [token] = tokens.slice(index)
    const href = token.attrGet('href')
    const isPath = /^[\w./-]+$/.test(href) && !href.endsWith('.md')
    const found = isPath ? statSync(join(ROOT, dirname(env.relativePath), href), { throwIfNoEntry: false }) : undefined
    if (found?.isDirectory()) token.attrSet('href', `${href.replace(/\/$/, '')}/`)
    if (found?.isFile()) token.attrSet('target', '_self') // VitePress looks for a page otherwise
    return render(tokens, index, options, env, self)
  }
}
