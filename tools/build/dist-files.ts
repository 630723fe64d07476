import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parse } from 'acorn'
import { transformSync } from 'esbuild'

// What is done to the files in dist/ behind a build.

/** Changes files as the package has them. A file may have been changed already. */
export function finishFiles(): void {
  showTracersTheDriver()
  leaveOutComments()
  shrinkTwins()
}

/**
 * Returns the declarations of entries, which the compiler has written: bundling them takes a fifth of the time of bundling the
 * sources, whose types would be found again.
 */
export function declarationsOf(entries: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(entries).map(([name, file]) => [name, join('.types', file.replace(/\.ts$/, '.d.ts'))]),
  )
}

/** Puts the licences of bundled packages beside them. */
export function keepLicences(...packages: readonly string[]): void {
  mkdirSync('dist/licenses', { recursive: true })
  for (const name of packages) cpSync(`node_modules/${name}/LICENSE`, `dist/licenses/${name}.txt`)
}

/** Removes a CommonJS file that nobody can require, and the chunks that only it loads. */
export function removeTwin(name: string): void {
  rmSync(join('dist', name), { force: true })
  const files = filesLike(/\.cjs$/)
  const loaded = new Set<string>()
  const add = (file: string): void => {
    if (loaded.has(file)) return
    loaded.add(file)
    const text = readFileSync(join('dist', file), 'utf8')
    for (const [, path = ''] of text.matchAll(/["'](\.{1,2}\/[^"']+\.cjs)["']/g)) add(join(dirname(file), path))
  }
  for (const file of files) if (!file.startsWith('chunk-')) add(file)
  for (const file of files) if (!loaded.has(file)) rmSync(join('dist', file))
}

/**
 * Whoever traces the files of a CommonJS module (@vercel/nft, for Next and Nitro) knows `module.createRequire`, and no other
 * name of it. Bundlers do not, and leave a native driver out, which they could not bundle.
 */
function showTracersTheDriver(): void {
  for (const name of filesLike(/\.cjs$/)) {
    const text = readFileSync(join('dist', name), 'utf8')
    const shown = text.replace(
      /const (require\d*) = (\w+)\.createRequire\(typeof __filename.*\);/,
      'const module = $2, $1 = module.createRequire(__filename);',
    )
    if (shown !== text) writeFileSync(join('dist', name), shown)
  }
}

/** Leaves out the comments that have lines of their own: those of what is bundled are a tenth of the package. */
function leaveOutComments(): void {
  for (const name of filesLike(/\.c?js$/)) {
    const text = readFileSync(join('dist', name), 'utf8')
    let kept = ''
    let end = 0
    const onComment = (isBlock: boolean, content: string, from: number, to: number): void => {
      const start = text.lastIndexOf('\n', from - 1) + 1
      const isAlone = text.slice(start, from).trim() === '' && (text[to] === '\n' || to === text.length)
      if (text.startsWith('#!', from) || !isAlone || (isBlock && !content.startsWith('*'))) return
      kept += text.slice(end, start)
      end = to + 1
    }
    parse(text, { ecmaVersion: 'latest', sourceType: 'module', allowHashBang: true, onComment })
    writeFileSync(join('dist', name), kept + text.slice(end))
  }
}

/**
 * Removes whitespace from the CommonJS files, a quarter of the package. The ES modules beside them stay readable. What is
 * loaded later is required there, because Jest runs CommonJS where nothing can be imported; and at once, so that bundlers see the
 * `try` around a driver that need not be there.
 */
function shrinkTwins(): void {
  for (const name of filesLike(/\.cjs$/)) {
    const file = join('dist', name)
    const supported = { 'dynamic-import': false }
    const text = readFileSync(file, 'utf8')
    const { code } = transformSync(text, { minifyWhitespace: true, target: 'node20', format: 'cjs', supported })
    writeFileSync(
      file,
      code.replaceAll(/await Promise\.resolve\(\)\.then\(\(\)=>(\w+\(require\("[^"]+"\)\))\)/g, 'await $1'),
    )
  }
}

/** Returns the names of the files in dist/ and its folders. An entry that alone has some code keeps it in its own file. */
function filesLike(names: RegExp): readonly string[] {
  return readdirSync('dist', { recursive: true, encoding: 'utf8' }).filter((file) => names.test(file))
}
