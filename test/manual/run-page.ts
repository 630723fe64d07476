import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import ts from 'typescript'
import { freePort } from '../http.ts'
import type { Block, Page } from './page.ts'
import { codeOf, ROOT } from './page.ts'

const CLI = join(ROOT, 'dist/cli.js')

/** How long commands may take on a busy machine. */
const MAX_MILLISECONDS = 40_000

/** What a block printed, and what the page says that it prints. */
export interface Printed {
  readonly line: number
  readonly printed: string
  readonly expected: string
}

/** Makes a folder in which the package is installed, beside everything that this repository has. */
export async function installIn(folder: string): Promise<void> {
  const modules = join(folder, 'node_modules')
  await mkdir(modules)
  await symlink(ROOT, join(modules, 'forgelet'))
  for (const name of await readdir(join(ROOT, 'node_modules'))) {
    if (!name.startsWith('.')) await symlink(join(ROOT, 'node_modules', name), join(modules, name))
  }
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
}

/** Writes the files of a page into a folder: as they are printed, and as JavaScript beside each TypeScript. */
export async function writePage(page: Page, folder: string, port = 3000): Promise<void> {
  for (const [name, blocks] of page.files) {
    const file = join(folder, name)
    await mkdir(dirname(file), { recursive: true })
    const code = codeOf(blocks).replaceAll('3000', String(port))
    await writeFile(file, code)
    if (!name.endsWith('.ts')) continue
    const marked = blocks.map((block) => `console.log('${mark(block)}')\n${block.code}`).join('')
    await writeFile(file.replace(/\.ts$/, '.js'), toJavaScript(marked.replaceAll('3000', String(port))))
  }
}

function toJavaScript(code: string): string {
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 }
  return ts.transpile(code, compilerOptions).replaceAll(/(from|import) '(\.[^']+)\.ts'/g, "$1 '$2.js'")
}

/** Printed before what a block prints. */
const mark = ({ line }: Block): string => `[block ${line}]`
const MARK = /^\[block (\d+)\]\n/m

/** Runs the steps of a page in its folder, one after another. */
export async function runPage(
  page: Page,
  folder: string,
  environment: Readonly<Record<string, string>>,
): Promise<readonly Printed[]> {
  const port = await freePort()
  await writePage(page, folder, port)
  const shell = new Shell(folder, environment, port)
  const printed: Printed[] = []
  try {
    for (const step of page.steps) {
      if (step.kind === 'commands') {
        const out = withoutMarks(await shell.run(step.block.code))
        printed.push({ line: step.block.line, printed: out, expected: step.block.prints })
      } else {
        printed.push(...printedBy(step.blocks, await shell.run(`node ${step.file}`)))
      }
    }
  } finally {
    await shell.end()
  }
  return printed
}

function withoutMarks(out: string): string {
  return out.replaceAll(new RegExp(MARK, 'gm'), '')
}

/** What each block of a program printed. */
function printedBy(blocks: readonly Block[], out: string): readonly Printed[] {
  const pieces = out.split(MARK)
  return blocks.map(({ line, prints }) => {
    const at = pieces.indexOf(String(line))
    const [first] = blocks
    const before = line === first?.line ? (pieces[0] ?? '') : '' // of files that it imports, and of a program that fails
    const own = at === -1 ? '[did not run]' : (pieces[at + 1] ?? '')
    return { line, printed: before + own, expected: prints }
  })
}

/** Runs commands as a reader does, with `npx forgelet` as the command that was built. */
class Shell {
  readonly #folder: string
  readonly #environment: Readonly<Record<string, string>>
  readonly #port: number
  /** The lines that set variables, which hold for the rest of the page. */
  #variables = ''
  #server: ChildProcess | undefined

  constructor(folder: string, environment: Readonly<Record<string, string>>, port: number) {
    this.#folder = folder
    this.#environment = environment
    this.#port = port
  }

  /** Runs commands, and returns what they print to either stream, with the port that the page names. */
  async run(commands: string): Promise<string> {
    let out = ''
    const variables =
      commands.match(/^(?:export )?[A-Z_]+=.*$/gm)?.filter((line) => !/\b(?:npx|node) /.test(line)) ?? []
    this.#variables += variables.map((line) => `${line}\n`).join('')
    for (const part of commands.split(/(?<= &)\n/)) {
      out += await (part.endsWith(' &') ? this.#start(part.slice(0, -2)) : this.#finish(part))
    }
    return out.replaceAll(String(this.#port), '3000').replaceAll('\r', '')
  }

  async end(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    if (server === undefined || server.exitCode !== null) return
    const closed = once(server, 'close')
    process.kill(-(server.pid ?? 0), 'SIGTERM')
    await closed
  }

  async #start(command: string): Promise<string> {
    await this.end()
    const child = this.#spawn(command)
    this.#server = child
    const out = collected(child)
    const ended = once(child, 'close').then(() => true)
    while (!/^http/m.test(out.text)) {
      if (await Promise.race([ended, once(child.stdout ?? child, 'data').then(() => false)])) break
    }
    return out.text
  }

  async #finish(commands: string): Promise<string> {
    const child = this.#spawn(commands)
    const out = collected(child)
    const timer = setTimeout(() => {
      out.text += '[did not end]'
      process.kill(-(child.pid ?? 0), 'SIGKILL')
    }, MAX_MILLISECONDS)
    await once(child, 'close')
    clearTimeout(timer)
    return out.text
  }

  #spawn(commands: string): ChildProcess {
    const local = `${this.#variables}${commands}`
      .replaceAll('3000', String(this.#port))
      .replaceAll(/\bnpx forgelet serve(?!.*--port)/g, `npx forgelet serve --port ${this.#port}`) // 3000 unless it says so
      .replaceAll(/\bnpx forgelet\b/g, `${process.execPath} ${CLI}`)
      .replaceAll(/\bnode (\S+)\.ts\b/g, `${process.execPath} $1.js`)
    return spawn('bash', ['-c', `exec 2>&1\nnpm() { :; }\n${local}`], {
      cwd: this.#folder,
      detached: true,
      env: {
        ...process.env,
        FORGELET_DB: '',
        NO_COLOR: '1',
        PATH: `${this.#folder}/bin:${process.env['PATH']}`,
        PORT: String(this.#port),
        ...this.#environment,
      },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  }
}

function collected(child: ChildProcess): { text: string } {
  const out = { text: '' }
  child.stdout?.setEncoding('utf8').on('data', (text) => {
    out.text += text
  })
  return out
}

/** Whether a text is what the page shows: `…` stands for anything on a line, alone for any lines. */
export function isShown(printed: string, expected: string): boolean {
  const pattern = expected
    .trim()
    .split('\n')
    .map((line) => (line === '…' ? '(?:.*\\n?)*?' : `${line.split('…').map(escaped).join('.*')}\\n`))
    .join('')
  return new RegExp(`^${pattern}$`).test(`${printed.trim().replaceAll(/ +$/gm, '')}\n`)
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}
