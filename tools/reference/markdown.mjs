import ts from 'typescript'

// Markdown of doc comments and declarations.

/** Where names in code are explained: `PinService` and `NOT_BLOCKED`. Filled by the pages. */
export const links = new Map()

/** The doc comment of a node: its text, and its tags in their order. Undefined without one. */
export function docOf(node) {
  const owner = ts.isVariableDeclaration(node) ? node.parent.parent : node
  const comment = ts.getJSDocCommentsAndTags(owner).filter(ts.isJSDoc).at(-1)
  return comment && parseDoc(comment.getText())
}

/** Parses the text of a comment. A tag may also stand at the end of a line. */
export function parseDoc(comment) {
  const lines = comment.replace(/^\/\*\*|\*\/$/g, '').split('\n')
  const text = lines.map((line) => line.replace(/^ *\* ?/, '').trimEnd()).join('\n')
  const [first, ...rest] = text.split(/(?:^|\s)@(param|returns|throws)\s+/)
  const tags = rest.flatMap((name, index) => (index % 2 === 0 ? [{ name, text: rest[index + 1].trim() }] : []))
  return { text: first.trim(), tags }
}

/** Doc text as Markdown: names become links, and pages too. */
export function prose(text) {
  return text
    .split(/(```[\s\S]*?```|`[^`]+`)/)
    .map((part, index) => {
      if (index % 2 === 1) return linked(part)
      return part
        .replaceAll('<', '&lt;')
        .replace(/\bSource: /g, 'See ')
        .replace(/docs\/((?:[\w-]+\/)*)([\w-]+)\.md/g, '[$2](../$1$2.md)')
    })
    .join('')
}

function linked(code) {
  const target = links.get(code.slice(1, -1).replace(/<.*>$/, ''))
  return target === undefined ? code : `[${code}](${target})`
}

/** Doc text as one line, for a table. */
export function cell(text) {
  return prose(text)
    .replace(/\n\s*\n/g, '<br>')
    .replace(/\s*\n\s*/g, ' ')
    .replaceAll('|', '\\|')
}

/** Code for a table. */
export function codeCell(code) {
  const text = linked(`\`${code.replace(/\s*\n\s*/g, ' ')}\``)
  return text.replaceAll('|', '\\|')
}

export function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

export function fence(code, language = 'ts') {
  return `\`\`\`${language}\n${code}\n\`\`\``
}

/** A doc comment as paragraphs: the text, then its tags. */
export function docBlock(doc) {
  if (doc === undefined) return []
  const parameters = doc.tags
    .filter(({ name }) => name === 'param')
    .map(({ text }) => {
      const [, name, what] = /^([\w.]+)(?:\s+-)?\s+([\s\S]*)$/.exec(text)
      return `- \`${name}\`: ${prose(what).replaceAll('\n', '\n  ')}`
    })
  if (parameters.length > 0) parameters.unshift('**Parameters**', '')
  const tagged = (tag, label) =>
    doc.tags.filter(({ name }) => name === tag).map(({ text }) => `**${label}** ${prose(text)}`)
  return [
    prose(doc.text),
    parameters.join('\n'),
    ...tagged('returns', 'Returns'),
    ...tagged('throws', 'Throws'),
  ].filter(Boolean)
}

/** The source text of a node, without its comment, and without the indentation of its first line. */
export function sourceOf(node, end = node.end) {
  const { text } = node.getSourceFile()
  const start = node.getStart()
  const indent = /[^\n]*$/.exec(text.slice(0, start))[0].length
  return text
    .slice(start, end)
    .trimEnd()
    .replaceAll(`\n${' '.repeat(indent)}`, '\n')
    .replace(/^export /, '')
}

/** A declaration as code, as a caller sees it. */
export function codeOf(node) {
  if (ts.isInterfaceDeclaration(node)) return sourceOf(node, node.members.pos).replace(/\s*\{$/, '')
  if (ts.isVariableDeclaration(node)) return `const ${sourceOf(node, node.type?.end)}`
  if (!ts.isFunctionDeclaration(node)) return sourceOf(node)

  const defaults = node.parameters.filter(({ type, initializer }) => type !== undefined && initializer !== undefined)
  return defaults.reduce(
    (code, { name, type, initializer }) =>
      code.replace(
        `${name.getText()}: ${type.getText()} = ${initializer.getText()}`,
        `${name.getText()}?: ${type.getText()}`,
      ),
    sourceOf(node, node.body?.pos),
  )
}
