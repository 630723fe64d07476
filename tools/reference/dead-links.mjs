import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The links of all pages to files and headings that do not exist. */
export function deadLinks(root) {
  const names = (folder, options) => readdirSync(join(root, folder), options).filter((name) => name.endsWith('.md'))
  const files = [
    ...names('.'),
    ...['docs', 'examples', 'skills'].flatMap((folder) =>
      names(folder, { recursive: true }).map((name) => `${folder}/${name}`),
    ),
  ]
  const texts = new Map(files.map((file) => [join(root, file), readFileSync(join(root, file), 'utf8')]))
  const anchors = new Map([...texts].map(([path, text]) => [path, anchorsIn(text)]))
  return [...texts].flatMap(([path, text]) =>
    [...text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/\]\((?!https?:)([\w./-]*)(?:#([^)]+))?\)/g)]
      .filter(([, to, anchor]) => {
        const target = to === '' ? path : join(path, '..', to)
        return !existsSync(target) || (anchor !== undefined && anchors.get(target)?.has(anchor) !== true)
      })
      .map(([link]) => `${path.slice(root.length + 1)} has a dead link: ${link}`),
  )
}

/** The anchors of a page. The headings of one text end in -1, -2 from the second on. */
function anchorsIn(text) {
  const ids = [...text.matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id)
  const headings = text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.+)$/gm)
  const slugs = [...headings].map(([, heading]) => slugOf(heading))
  const numbered = slugs.map((slug, at) => {
    const before = slugs.slice(0, at).filter((one) => one === slug).length
    return before === 0 ? slug : `${slug}-${before}`
  })
  return new Set([...ids, ...numbered])
}

/** The anchor of a heading, as GitHub makes it. */
function slugOf(heading) {
  return heading
    .replaceAll('`', '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
}
