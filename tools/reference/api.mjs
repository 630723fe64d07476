import { join } from 'node:path'
import { Application, Converter, ReflectionKind } from 'typedoc'
import ts from 'typescript'
import { errorStatus } from '../../src/http-adapters/routes/error-status.ts'
import app from '../../tsup.app.config.ts'
import library from '../../tsup.config.ts'

// What the package exports, as typedoc reads it. A page of Markdown for each entry.

const FILES = { ...library.entry, ...app.entry }
const ENTRIES = Object.keys({ ...library.dts.entry, ...app.dts.entry }).map((key) => [
  FILES[key],
  key === 'index' ? 'forgelet' : `forgelet/${key}`,
])

/** Reads the exports of every entry. `warnings` are what typedoc found wrong, such as an export without a doc comment. */
export async function readApi(root) {
  const app = await Application.bootstrapWithPlugins({
    entryPoints: ENTRIES.map(([file]) => join(root, file)),
    tsconfig: join(root, 'tsconfig.json'),
    plugin: ['typedoc-plugin-markdown'],
    name: 'Reference',
    outputs: [{ name: 'markdown', path: join(root, 'docs/reference') }],
    logLevel: 'Warn',
    skipErrorChecking: true, // the compiler checks the types
    disableSources: true,
    readme: 'none',
    mergeReadme: true,
    router: 'module',
    flattenOutputFiles: true,
    entryFileName: 'index',
    hidePageHeader: true,
    hideBreadcrumbs: true,
    hideGroupHeadings: true,
    groupOrder: ['Functions', 'Variables', 'Interfaces', 'Type Aliases'],
    useCodeBlocks: true,
    useHTMLAnchors: true,
    parametersFormat: 'table',
    interfacePropertiesFormat: 'table',
    classPropertiesFormat: 'table',
    typeDeclarationFormat: 'table',
    validation: { notExported: true, notDocumented: true, invalidLink: true },
    requiredToBeDocumented: ['Function', 'Variable', 'Class', 'Interface', 'TypeAlias', 'Method'],
    intentionallyNotExported: ['ApiPorts', 'SERVICE_KEYS', 'ISOLATION'], // shorthands in the declarations of others
  })
  const declarations = new Map()
  app.converter.on(Converter.EVENT_CREATE_DECLARATION, (context, reflection) => {
    const symbol = context.getSymbolFromReflection(reflection)
    if (symbol?.declarations) declarations.set(reflection, { nodes: symbol.declarations, checker: context.checker })
  })
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const module of project.getChildrenByKind(ReflectionKind.Module)) {
      const found = ENTRIES.find(([file]) => [`${module.name}.ts`, `${module.name}/index.ts`].includes(file))
      module.name = found[1]
    }
    linkNames(project)
  })
  const project = await app.convert()
  app.validate(project)
  return {
    project,
    isValid: !app.logger.hasWarnings() && !app.logger.hasErrors(),
    sourceOf: (reflection) => sourceOf(declarations.get(reflection)),
    /** Writes the pages. `first` begins the first of them. */
    write(first) {
      project.readme = [{ kind: 'text', text: first }]
      return app.generateOutputs(project)
    },
  }
}

/** Makes links of the names in code of doc comments, of the codes of errors, and of the pages that a comment names. */
function linkNames(project) {
  const named = new Map(exportsOf(project).flatMap((one) => (one.isReference() ? [] : [[one.name, one]])))
  const linked = (part) => {
    const name = part.text.replace(/^`|(?:<.*>)?`$/g, '')
    if (part.kind === 'code' && named.has(name))
      return { kind: 'inline-tag', tag: '@linkcode', text: name, target: named.get(name) }
    if (part.kind === 'code' && name in errorStatus)
      return { kind: 'text', text: `[${part.text}](errors.md#${name.toLowerCase()})` }
    if (part.kind === 'code') return part
    return { ...part, text: part.text.replace(/docs\/((?:[\w-]+\/)*)([\w-]+)\.md/g, '[$2](../$1$2.md)') }
  }
  for (const { comment } of Object.values(project.reflections)) {
    if (comment === undefined) continue
    comment.summary = comment.summary.map(linked)
    for (const tag of comment.blockTags) tag.content = tag.content.map(linked)
  }
}

/** The exports of all entries. What several entries export is a reference in all but one. */
export function exportsOf(project) {
  return project.getChildrenByKind(ReflectionKind.Module).flatMap(({ children = [] }) => children)
}

/** The text of a comment as Markdown. */
export function textOf(parts) {
  return parts.map(({ kind, text }) => (kind === 'inline-tag' ? `\`${text}\`` : text)).join('')
}

const printer = ts.createPrinter({ removeComments: true })

/** A declaration as a caller sees it, without comments. */
function sourceOf({ nodes, checker }) {
  const seen = nodes.filter((node) => nodes.length === 1 || !ts.isFunctionDeclaration(node) || node.body === undefined)
  return seen
    .map((node) => {
      if (ts.isVariableDeclaration(node))
        return `const ${node.name.getText()}: ${checker.typeToString(checker.getTypeAtLocation(node), node, ts.TypeFormatFlags.NoTruncation)}`
      const shown = ts.isFunctionDeclaration(node) ? withoutBody(node) : ts.isPropertySignature(node) ? node.type : node
      return printer.printNode(ts.EmitHint.Unspecified, shown, node.getSourceFile())
    })
    .join('\n')
}

function withoutBody(node) {
  const parameters = node.parameters.map(({ dotDotDotToken, name, questionToken, type, initializer }) =>
    ts.factory.createParameterDeclaration(
      undefined,
      dotDotDotToken,
      name,
      initializer ? ts.factory.createToken(ts.SyntaxKind.QuestionToken) : questionToken,
      type,
    ),
  )
  return ts.factory.createFunctionDeclaration(
    node.modifiers?.filter(({ kind }) => kind !== ts.SyntaxKind.AsyncKeyword),
    node.asteriskToken,
    node.name,
    node.typeParameters,
    parameters,
    node.type,
    undefined,
  )
}

/** All that the package exports, in one text, for those who review a change. */
export function publicTypes({ project, sourceOf }) {
  const modules = project.getChildrenByKind(ReflectionKind.Module).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const sections = modules.map((module) => {
    const exports = module.children.toSorted((a, b) => (a.name < b.name ? -1 : 1))
    return `// ${module.name}\n\n${exports.map((one) => (one.isReference() ? `export { ${one.name} } // of ${one.getTargetReflectionDeep().parent.name}` : sourceOf(one))).join('\n')}\n`
  })
  return `// The public types of every entry. \`npm run reference\` writes this file, and \`npm run check:reference\` compares it.\n\n${sections.join('\n')}`
}
