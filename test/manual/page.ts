import { readFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'

// The rules of the blocks of a page, for `manual.servers.test.ts`, which compiles and runs them:
//
// - ```ts and ```js continue the block of code above. All of a page that has no name is one module, `page.ts`.
// - A block of code whose first line is `// forge.ts` begins that file of the page. So does ```json fixture.json, where no comment can.
// - ```sh is run by the shell, in the folder of the page. A line that ends in ` &` is a server, which ends when the next begins.
//   A line that sets variables holds for the rest of the page.
// - ```text right under a block is what that block prints. `…` stands for anything on a line, alone for any lines.
//   A block of code or commands without one prints nothing.
// - A file of code runs where its last block is, unless another file imports it or a command of the page names it.

/** The root of the repository. */
export const ROOT: string = resolve(import.meta.dirname, '../..')

/** A block of a page. */
export interface Block {
  readonly language: string
  /** The file that it is a part of. */
  readonly file: string
  readonly code: string
  /** The line of the page where its code begins. */
  readonly line: number
  /** What it prints, as the page shows it. */
  readonly prints: string
}

/** A step of a page: a program that runs, or a block of commands. */
export type Step =
  | { readonly kind: 'program'; readonly file: string; readonly blocks: readonly Block[] }
  | { readonly kind: 'commands'; readonly block: Block }

/** A page, its files, and what is run, in order. */
export interface Page {
  readonly path: string
  readonly name: string
  readonly text: string
  readonly blocks: readonly Block[]
  readonly files: ReadonlyMap<string, readonly Block[]>
  readonly steps: readonly Step[]
}

const CODE: readonly string[] = ['ts', 'js']
const COMMANDS = 'sh'

/** Reads a page of the repository. */
export function readPage(path: string): Page {
  return pageOf(path, readFileSync(resolve(ROOT, path), 'utf8'))
}

/** Reads a text as a page. */
export function pageOf(path: string, text: string): Page {
  const blocks = blocksOf(text)
  const files = new Map<string, Block[]>()
  for (const block of blocks) {
    if (block.file !== '') files.set(block.file, [...(files.get(block.file) ?? []), block])
  }
  return { path, name: basename(path, '.md'), text, blocks, files, steps: stepsOf(blocks, files) }
}

function blocksOf(text: string): readonly Block[] {
  const blocks: Block[] = []
  let current = 'page.ts'
  for (const { 0: fence, 1: language = '', 2: name, 3: code = '', index } of text.matchAll(FENCE)) {
    const before = text.slice(0, index)
    const last = blocks.at(-1)
    if (language === 'text' && last !== undefined) {
      if (before.slice(endOf(text, last)).trim() === '') blocks[blocks.length - 1] = { ...last, prints: code }
      continue
    }
    const isCode = CODE.includes(language)
    if (isCode) current = FILE.exec(code)?.[1] ?? current
    const file = isCode ? current : (name ?? '')
    const line = before.split('\n').length + 1
    blocks.push({ language, file, code, line, prints: '' })
    if (!fence.endsWith('```')) throw new Error(`a block is not closed in line ${line}`)
  }
  return blocks
}

/** The first line of a file. */
const FILE = /^\/\/ ([\w./[\]-]+\.[jt]s)\n/
const FENCE = /^```(\w+)(?: ([\w./-]+))?\n(.*?)^```$/gms

/** Where the fence of a block ends. */
function endOf(text: string, { code, line }: Block): number {
  const start =
    text
      .split('\n')
      .slice(0, line - 1)
      .join('\n').length + 1
  return start + code.length + '```'.length
}

function stepsOf(blocks: readonly Block[], files: ReadonlyMap<string, readonly Block[]>): readonly Step[] {
  return blocks.flatMap((block): readonly Step[] => {
    if (block.language === COMMANDS) return [{ kind: 'commands', block }]
    const parts = files.get(block.file) ?? []
    const isMentioned = blocks.some(
      ({ code, file, language }) =>
        (language === COMMANDS && new RegExp(`\\b${block.file}\\b`).test(code)) ||
        (file !== block.file && code.includes(`'./${block.file}'`)),
    )
    if (!CODE.includes(block.language) || parts.at(-1) !== block || isMentioned) return []
    return [{ kind: 'program', file: block.file, blocks: parts }]
  })
}

/** The pages whose blocks run. */
export function codeOf(blocks: readonly Block[]): string {
  return blocks.map(({ code }) => code).join('')
}
