import ts from 'typescript'
import { exportNamed } from './exports.mjs'
import { cell, codeCell, codeOf, docBlock, docOf, fence, prose, sourceOf, table } from './markdown.mjs'

// An export as a part of a page: what it is for, how it is imported, its type, its members.

/** The Markdown of an export. */
export function exportBlock(found) {
  const { name, heading, declarations, places, isValue } = found
  const [{ entry, name: imported }, ...others] = places
  const statement = `import ${isValue ? '' : 'type '}{ ${imported} } from '${entry}'`
  const also = others.map(
    ({ entry: place, name: other }) => `\`${place}\`${other === imported ? '' : ` as \`${other}\``}`,
  )
  return [
    `### ${heading}`,
    ...declarations.flatMap((node, index) => [
      fence(index === 0 ? `${statement}\n\n${codeOf(node)}` : codeOf(node)),
      ...docBlock(docOf(node)),
      ...(ts.isInterfaceDeclaration(node) ? memberBlocks(node, name) : []),
    ]),
    ...(also.length === 0 ? [] : [`Also exported by ${also.join(', ')}.`]),
  ]
}

/** The members of an interface: values as a table, then each method. */
function memberBlocks(node, name) {
  const isMethod = (member) => !ts.isPropertySignature(member) || /\n|=>/.test(member.type.getText())
  const values = node.members.filter((member) => !isMethod(member))
  const rows = values.map((member) => [
    `\`${isReadonly(member) ? '' : 'writable '}${member.name.getText()}${member.questionToken ? '?' : ''}\`<br>${codeCell(typeOf(member))}`,
    cell(textOf(docOf(member))),
  ])
  return [
    ...(rows.length === 0 ? [] : [table(['property', ''], rows)]),
    ...node.members
      .filter(isMethod)
      .flatMap((member) => [
        `#### ${callPathOf(name)}${member.name ? `.${member.name.getText().replace(/^\[|\]$/g, '')}` : '()'}`,
        fence(sourceOf(member)),
        ...docBlock(docOf(member)),
      ]),
  ]
}

/** Public properties are read-only, and those that may be missing may also be undefined: only exceptions are shown. */
function isReadonly(member) {
  return member.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ReadonlyKeyword) === true
}

function typeOf({ type, questionToken }) {
  const text = type.getText()
  if (questionToken === undefined) return text
  return text.endsWith(' | undefined') ? text.slice(0, -' | undefined'.length) : `${text}, never undefined`
}

function textOf(doc) {
  if (doc === undefined) return ''
  return [doc.text, ...doc.tags.map(({ name, text }) => `${name}: ${text}`)].join('\n\n')
}

/** What a host writes to call a service: `forge.pins`, `forge.badges.catalogue`. Any other name stays. */
function callPathOf(name) {
  if (name === 'ForgeMethods') return 'forge'
  const owners = [
    ['forge', exportNamed('Services', 'src/core/')],
    ['forge.badges', exportNamed('BadgeService', 'src/core/')],
  ]
  for (const [path, { declarations }] of owners) {
    const member = declarations[0].members.find(
      ({ kind, type }) => kind === ts.SyntaxKind.PropertySignature && type.typeName?.getText() === name,
    )
    if (member !== undefined) return `${path}.${member.name.getText()}`
  }
  return name
}

/** The row of an export in a list. */
export function exportRow({ link, declarations }, imported) {
  const doc = declarations.map(docOf).find((one) => one !== undefined)
  const [first] = prose(doc.text.replace(/\s*\n\s*/g, ' ')).split(/(?<=[.:]) (?=[A-Z`])/)
  return [`[\`${imported}\`](${link})`, first.replace(/:$/, '.').replaceAll('|', '\\|')]
}
