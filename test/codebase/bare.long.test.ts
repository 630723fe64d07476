import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import ts from 'typescript'
import { afterAll, describe, expect, it } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')
/** Folders, and a file that is a module by itself. */
const MODULES = [
  'src/schema',
  'src/core',
  'src/storage/contract',
  'src/storage/memory',
  'src/storage/sql/durable-object.ts',
  'src/http-adapters/routes',
  'src/exchange/json',
  'src/exchange/documents',
  'src/exchange/forges',
]
const SINS = ["Buffer.from('')", 'process.pid', 'setImmediate(() => undefined)', "require('fs')", '__dirname']

describe('the portable modules', () => {
  const tree = mkdtempSync(join(tmpdir(), 'bare-'))
  for (const name of ['src', 'tsconfig.json', 'tsconfig.bare.json', 'web-globals.d.ts', 'package.json']) {
    cpSync(join(ROOT, name), join(tree, name), { recursive: true })
  }
  symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'))
  for (const module of MODULES) appendFileSync(join(tree, plantedIn(module)), `${SINS.join('\n')}\nexport {}\n`)
  writeFileSync(join(tree, 'src/schema/allowed.ts'), "new URL('a:b')\nnew TextEncoder().encode('')\nexport {}\n")
  const errors = compile(join(tree, 'tsconfig.bare.json'))

  afterAll(() => rmSync(tree, { recursive: true }))

  it.each(MODULES)('know none of Node’s globals: %s', (module) => {
    const before = module.endsWith('.ts') ? readFileSync(join(ROOT, module), 'utf8').split('\n').length - 1 : 0
    const lines = errors.filter(({ file }) => file === plantedIn(module)).map(({ line }) => line - before)

    expect(new Set(lines)).toEqual(new Set(SINS.keys()))
  })

  it('know the globals of the web', () => {
    expect(errors.filter(({ file }) => file === 'src/schema/allowed.ts')).toEqual([])
  })

  it('pull in no types of Node’s through a package', () => {
    const files = program(join(ROOT, 'tsconfig.bare.json')).getSourceFiles()

    expect(files.map(({ fileName }) => fileName).filter((name) => name.includes('@types/node'))).toEqual([])
  })

  function compile(config: string): readonly { readonly file: string; readonly line: number }[] {
    return ts
      .getPreEmitDiagnostics(program(config))
      .flatMap(({ file, start }) =>
        file === undefined || start === undefined
          ? []
          : [{ file: file.fileName.slice(tree.length + 1), line: file.getLineAndCharacterOfPosition(start).line }],
      )
  }
})

/** The file that the globals of Node are planted in. */
function plantedIn(module: string): string {
  return module.endsWith('.ts') ? module : `${module}/planted.ts`
}

function program(config: string): ts.Program {
  const parsed = ts.getParsedCommandLineOfConfigFile(
    config,
    {},
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => undefined },
  )
  if (parsed === undefined) throw new Error(`no such configuration: ${config}`)

  return ts.createProgram(parsed.fileNames, parsed.options)
}
