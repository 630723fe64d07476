import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

// A hook of Node's module loader: imports the sources as they are. Node 20 does not run TypeScript.

const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023, verbatimModuleSyntax: true }

export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context)

  const text = readFileSync(fileURLToPath(url), 'utf8')
  return { format: 'module', shortCircuit: true, source: ts.transpileModule(text, { compilerOptions }).outputText }
}
