import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

// Hooks of Node's module loader: they import the sources as they are, also by the names of the package. Node 20 does not run
// TypeScript.

const ROOT = new URL('../../', import.meta.url)
const { paths } = JSON.parse(readFileSync(new URL('tsconfig.json', ROOT), 'utf8')).compilerOptions

const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023, verbatimModuleSyntax: true }

export async function resolve(name, context, next) {
  const [source] = paths[name] ?? []
  return next(source === undefined ? name : new URL(source, ROOT).href, context)
}

export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context)

  const text = readFileSync(fileURLToPath(url), 'utf8')
  return { format: 'module', shortCircuit: true, source: ts.transpileModule(text, { compilerOptions }).outputText }
}
