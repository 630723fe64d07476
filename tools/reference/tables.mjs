import { readFileSync } from 'node:fs'
import { EXIT_CODES } from '../../app/cli/command.ts'
import { DATABASE_HELP } from '../../app/cli/database.ts'
import { createProgram } from '../../app/cli/program.ts'
import { errorStatus } from '../../src/http-adapters/routes/error-status.ts'
import { actionFacts } from '../../src/schema/records.ts'
import { postgresSchemaPlan } from '../../src/storage/postgres.ts'
import { TABLE_DESCRIPTIONS } from '../../src/storage/sql/schema/tables.ts'
import { exportsOf, textOf } from './api.mjs'

// The pages that are not made of exports: their facts are tables of the sources, and the OpenAPI document.

const sourceText = (path) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const SILENT = { out: () => undefined, err: () => undefined }
const COMMANDS = 'app/cli/command.ts'
const openapi = JSON.parse(sourceText('schema/openapi.json'))

/** The pages by their paths, and the list of them. */
export function tablePages(api) {
  const pages = {
    errors: ['Errors', 'A program reads `code`; the message is for people.', errorCodes(api)],
    endpoints: ['Endpoints', 'Every path of the HTTP API, relative to the mount point.', endpoints()],
    'command-line': ['Command line', 'Every command of `npx forgelet`.', commandLine()],
    tables: ['Tables', 'The actions that a policy is asked about, views and tables.', facts()],
  }
  const list = Object.entries(pages).map(([name, [title, intro]]) => `- [${title}](${name}.md): ${intro}`)
  const texts = Object.entries(pages).map(([name, [title, intro, blocks]]) => {
    const text = [`# ${title}`, intro, ...blocks].join('\n\n')
    return [`docs/reference/${name}.md`, `${text}\n`]
  })
  return { list: ['# Reference\n', ...list].join('\n'), texts: Object.fromEntries(texts) }
}

/** Text for a page or a cell of a table: codes of errors and pages become links. */
function prose(text) {
  return text
    .replaceAll('<', '&lt;')
    .replace(/`([A-Z_]+)`/g, (code, name) =>
      name in errorStatus ? `[${code}](errors.md#${name.toLowerCase()})` : code,
    )
    .replace(/docs\/((?:[\w-]+\/)*)([\w-]+)\.md/g, '[$2](../$1$2.md)')
}

function table(head, rows) {
  const cell = (text) =>
    prose(text)
      .replace(/\n\s*\n/g, '<br>')
      .replace(/\s*\n\s*/g, ' ')
      .replaceAll('|', '\\|')
  const lines = [head, head.map(() => '---'), ...rows.map((cells) => cells.map(cell))]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

function fence(code, language) {
  return `\`\`\`${language}\n${code}\n\`\`\``
}

/** Every code: its status, and what its comment says is the cause and the remedy. */
function errorCodes({ project, sourceOf }) {
  const named = (name) => exportsOf(project).find((one) => one.name === name && !one.isReference())
  const wire = named('WireCode').type
  const codes = [
    ...named('ForgeErrorDetails').children.map((one) => [one.name, one.comment?.summary, sourceOf(one)]),
    ...wire.types.map(({ value }, index) => [value, wire.elementSummaries?.[index], 'undefined']),
  ]
  return codes.flatMap(([name, summary, details]) => {
    const [, cause, remedy] = /^([\s\S]*?)\s+To do: ([\s\S]*)$/.exec(textOf(summary ?? [])) ?? []
    if (remedy === undefined) throw new Error(`the doc comment of ${name} must name the cause, and "To do: …"`)
    return [
      `## ${name}`,
      `**Status** ${errorStatus[name]}`,
      `**Cause** ${cause}`,
      `**To do** ${remedy}`,
      ...(details === 'undefined' ? [] : ['**Details**', fence(details, 'ts')]),
    ]
  })
}

/** What a `$ref` refers to; any other part of the document as it is. */
function resolved(part) {
  return (
    part?.$ref
      ?.split('/')
      .slice(1)
      .reduce((owner, key) => owner[key], openapi) ?? part
  )
}

function endpoints() {
  const operations = Object.entries(openapi.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ title: `${method.toUpperCase()} ${path}`, ...operation })),
  )
  return openapi.tags.flatMap(({ name, description }) => [
    `## ${name}`,
    `${description}.`,
    ...operations.filter(({ tags }) => tags.includes(name)).flatMap(endpoint),
  ])
}

function endpoint({ title, operationId, summary, description, parameters = [], requestBody, responses }) {
  const inputs = parameters.map(resolved).map(({ name, in: where, description: about = '', schema }) => {
    const values = schema.enum?.map((value) => `\`${value}\``).join(', ')
    const standard = schema.default === undefined ? undefined : `default \`${schema.default}\``
    return [`\`${name}\``, where, [about, values, standard].filter(Boolean).join('; ')]
  })
  const body = resolved(requestBody)
  const replies = Object.entries(responses).map(([status, reply]) => [Number(status), resolved(reply)])
  const errors = replies.flatMap(([status, reply]) =>
    status < 400 ? [] : reply.description.split('\n\n').map((line) => [`${status}`, ...line.split(/(?<=^`\w+`): /)]),
  )
  return [
    `### ${title}`,
    prose(`${summary}. Operation \`${operationId}\`.${description === undefined ? '' : `\n\n${description}`}`),
    ...(inputs.length === 0 ? [] : [table(['parameter', 'in', ''], inputs)]),
    ...(body === undefined ? [] : [`**Body** ${prose(body.description)}`, ...example(body)]),
    ...replies.flatMap(([status, reply]) =>
      status < 400 ? [`**${status}** ${prose(reply.description)}`, ...example(reply)] : [],
    ),
    table(['error', 'code', 'when'], errors),
  ]
}

/** The example of the body of a request or response. A key is served in two formats. */
function example({ content = {} }) {
  const [first] = Object.values(content)
  if (first === undefined) return []
  const text = first.examples?.openpgp.value
  return [text === undefined ? fence(JSON.stringify(exampleOf(first), null, 2), 'json') : fence(text.trimEnd(), 'text')]
}

function exampleOf({ example: given, schema }) {
  if (given !== undefined) return given
  const { examples, items, allOf, anyOf, properties = {} } = resolved(schema)
  if (examples !== undefined) return examples[0]
  if (items !== undefined) return [exampleOf({ schema: items })]
  const parts = (allOf ?? anyOf)?.map((part) => exampleOf({ schema: part }))
  const own = Object.entries(properties).map(([name, property]) => [name, exampleOf({ schema: property })])
  return Object.assign({}, ...(parts ?? []), Object.fromEntries(own))
}

function commandLine() {
  const [variables] = /export interface Environment \{[\s\S]*?\n\}/.exec(sourceText(COMMANDS))
  return [
    '## Exit codes',
    table(
      ['code', ''],
      EXIT_CODES.map((text) => [text[0], text.slice(2)]),
    ),
    '## Environment variables',
    table(
      ['variable', ''],
      [...variables.matchAll(/ {2}readonly (\w+)/g)].map(([line, name]) => [
        `\`${name}\``,
        commentAbove(COMMANDS, line),
      ]),
    ),
    ...leavesOf(createProgram(SILENT)).flatMap((command) => [`## ${pathOf(command)}`, fence(helpOf(command), 'text')]),
  ]
}

function leavesOf(command) {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf)
}

function pathOf(command) {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`
}

/** What `--help` prints, without what is the same for every command. */
function helpOf(command) {
  let text = ''
  command.configureOutput({
    writeOut: (more) => {
      text += more
    },
    getOutHelpWidth: () => 120,
  })
  command.outputHelp()
  return text
    .replace(DATABASE_HELP, '')
    .split('\nExit codes\n')[0]
    .replace(/\n{3,}/g, '\n\n')
    .trimEnd()
}

/** The text of the comment above the first place that matches. */
function commentAbove(path, pattern) {
  const text = sourceText(path)
  const end = text.search(pattern)
  const comment = text.slice(text.lastIndexOf('/**', end), end).trimEnd()
  if (end === -1 || !comment.endsWith('*/')) throw new Error(`${path} has no doc comment above ${pattern}`)
  return comment
    .slice(3, -2)
    .replace(/^ *\* ?/gm, '')
    .trim()
}

function facts() {
  const views = postgresSchemaPlan().flatMap((sql) => [
    ...sql.matchAll(/create (?:or replace )?view "(\w+)" \(([^)]*)\)/g),
  ])
  const tables = Object.entries(TABLE_DESCRIPTIONS).map(([name, { columns, key = ['id'] }]) => [
    `\`forgelet_${name}\``,
    commentAbove('src/storage/sql/schema/tables.ts', new RegExp(`^  ${name}: \\{`, 'm')),
    Object.entries(columns)
      .map(([column, type]) => `\`${column}\` ${[type].flat().join(' or ')}`)
      .join(', '),
    key.map((column) => `\`${column}\``).join(', '),
  ])
  return [
    '## Actions',
    'What a policy is asked, what the request is about, and the least role to which `rolePolicy` allows it.',
    table(
      ['action', 'about', '`rolePolicy`'],
      Object.entries(actionFacts).map(([action, { concerns = '', allows }]) => [`\`${action}\``, concerns, allows]),
    ),
    '## Views',
    prose(commentAbove('src/storage/sql/schema/ddl.ts', /function views/)),
    table(
      ['view', 'columns'],
      views.map(([, name, columns]) => [`\`${name}\``, columns.replaceAll('"', '`')]),
    ),
    '## Tables',
    prose(commentAbove('src/storage/sql/schema/tables.ts', /type BaseType/)),
    table(['table', 'what', 'columns', 'key'], tables),
  ]
}
