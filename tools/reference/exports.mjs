import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import ts from 'typescript'
import tsup from '../../tsup.config.ts'

// What the package exports: each thing once, with the entries that export it, and its declarations.

const ROOT = join(import.meta.dirname, '../..')
const ENTRIES = Object.entries(tsup.dts.entry)
const { config } = ts.parseConfigFileTextToJson('tsconfig.json', readFileSync(join(ROOT, 'tsconfig.json'), 'utf8'))
const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT)
const program = ts.createProgram(
  ENTRIES.map(([, file]) => join(ROOT, file)),
  options,
)
const checker = program.getTypeChecker()

/** The entries of the package, as they are imported. */
export const entries = ENTRIES.map(([key]) => importName(key))

/** Everything that the package exports, in the order of the entries. */
export const publicExports = readExports()

function importName(key) {
  return key === 'index' ? 'forgelet' : `forgelet/${key}`
}

function readExports() {
  const bySymbol = new Map()
  for (const [key, file] of ENTRIES) {
    const module = checker.getSymbolAtLocation(program.getSourceFile(join(ROOT, file)))
    for (const symbol of checker.getExportsOfModule(module)) {
      const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
      const known = bySymbol.get(target) ?? describe(target)
      known.places.push({ entry: importName(key), name: symbol.name })
      bySymbol.set(target, known)
    }
  }
  return [...bySymbol.values()]
}

function describe(symbol) {
  const declarations = symbol.declarations.filter((node) => !isImplementation(node, symbol))
  const [first] = declarations
  const file = relative(ROOT, first.getSourceFile().fileName)
  const isValue = Boolean(symbol.flags & ts.SymbolFlags.Value)
  return { name: symbol.name, file, position: first.pos, declarations, isValue, places: [] }
}

/** Callers see the overloads of a function, and not the function behind them. */
function isImplementation(node, { declarations }) {
  return ts.isFunctionDeclaration(node) && node.body !== undefined && declarations.length > 1
}

/** The export of this name that is declared in this file. */
export function exportNamed(name, file) {
  const found = publicExports.find((one) => one.name === name && one.file.startsWith(file))
  if (found === undefined) throw new Error(`${file} exports no ${name}`)
  return found
}

/** Fails if a public type names a type of this project that cannot be imported, or an export has no doc comment. */
export function checkExports(documented) {
  const exported = new Set(publicExports.flatMap(({ declarations }) => declarations))
  const problems = publicExports.flatMap(({ name, file, declarations }) => [
    ...(declarations.some(documented) ? [] : [`${file}: ${name} has no doc comment`]),
    ...declarations.flatMap(hiddenTypes).map((hidden) => `${file}: ${name} needs ${hidden}, which is not exported`),
  ])
  if (problems.length > 0) throw new Error(problems.join('\n'))

  function hiddenTypes(declaration) {
    const hidden = []
    const visit = (node) => {
      if (ts.isBlock(node) || (ts.isVariableDeclaration(declaration) && node === declaration.initializer)) return
      const name = ts.isTypeReferenceNode(node)
        ? node.typeName
        : ts.isExpressionWithTypeArguments(node) && node.expression
      const isHidden = name && declarationsOf(name).some((one) => isOurs(one) && !exported.has(one))
      if (isHidden && !SHORTHANDS.has(name.getText())) hidden.push(name.getText())
      ts.forEachChild(node, visit)
    }
    visit(declaration)
    return hidden
  }
}

/** Types that are only shorthands in the declarations of others, and constants that are read by `typeof`. */
const SHORTHANDS = new Set(['ApiPorts', 'SERVICE_KEYS'])

function declarationsOf(name) {
  const symbol = checker.getSymbolAtLocation(name)
  if (symbol === undefined) return []
  return (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol).declarations ?? []
}

function isOurs(declaration) {
  return (
    relative(ROOT, declaration.getSourceFile().fileName).startsWith('src/') &&
    !ts.isTypeParameterDeclaration(declaration)
  )
}
