import { readFileSync } from 'node:fs'
import { EXIT_CODES } from '../../src/cli/command.ts'
import { DATABASE_HELP } from '../../src/cli/database.ts'
import { createProgram } from '../../src/cli/program.ts'
import { errorStatus } from '../../src/http-adapters/routes/error-status.ts'
import { actionFacts } from '../../src/schema/access.ts'
import { postgresSchemaPlan } from '../../src/storage/postgres.ts'
import { TABLE_DESCRIPTIONS } from '../../src/storage/sql/schema/tables.ts'
import { DEFAULT_FIXTURE } from '../../src/testing/create-test-forge.ts'
import { cell, codeCell, fence, parseDoc, prose, table } from './markdown.mjs'

// The pages that are not made of exports: their facts are tables of the sources, and the OpenAPI document.

const sourceText = (path) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const openapi = JSON.parse(sourceText('schema/openapi.json'))

export function statusOf(code) {
  return errorStatus[code]
}

export function actionTable() {
  const rows = Object.entries(actionFacts).map(([action, { concerns = '', allows }]) => [
    `\`${action}\``,
    concerns,
    allows,
  ])
  return [
    '## Actions',
    'What a policy is asked, what the request is about, and the least role to which `rolePolicy` allows it.',
    table(['action', 'about', '`rolePolicy`'], rows),
  ]
}

/** What a `$ref` refers to; any other part of the document as it is. */
function resolved(part) {
  if (part?.$ref === undefined) return part
  return part.$ref
    .split('/')
    .slice(1)
    .reduce((owner, key) => owner[key], openapi)
}

export function propertiesRead() {
  const schemas = ['User', 'Pinned', 'Issue', 'PullRequest', 'Label', 'Error'].map((name) => [
    name,
    openapi.components.schemas[name],
  ])
  return [
    '## What clients read',
    'The presenter returns users, issues and pull requests. These are the properties that clients of the Gitea API read; a host may leave out what is not required, and add more.',
    ...schemas.flatMap(([name, schema]) => [
      `### JSON of ${name}`,
      prose(schema.description ?? ''),
      propertyTable(schema),
    ]),
  ]
}

function propertyTable(schema) {
  const parts = [schema, ...(schema.allOf ?? [])].filter((part) => part.properties !== undefined)
  const rows = parts.flatMap(({ properties, required = [] }) =>
    Object.entries(properties).map(([name, property]) => [
      `\`${name}\`${required.includes(name) ? ' (required)' : ''}<br>${codeCell(typeName(property))}`,
      cell(property.description ?? ''),
    ]),
  )
  return table(['property', ''], rows)
}

function typeName(schema) {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1)
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeName).join(' | ')
  const [type, ...others] = [schema.type ?? 'object'].flat()
  const named = type === 'array' ? `${typeName(schema.items)}[]` : schema.format === 'date-time' ? 'date-time' : type
  return [named, ...others].join(' | ')
}

export function endpointPage() {
  const operations = Object.entries(openapi.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  return openapi.tags.flatMap(({ name, description }) => [
    `## ${name}`,
    `${prose(description)}.`,
    ...operations.filter(({ operation }) => operation.tags.includes(name)).flatMap(operationBlocks),
  ])
}

function operationBlocks({
  path,
  method,
  operation: { operationId, summary, description, parameters = [], requestBody, responses },
}) {
  const inputs = parameters
    .map(resolved)
    .map((one) => [
      `\`${one.name}\``,
      one.in,
      cell(
        [
          one.description,
          one.schema.enum && `${one.schema.enum.map((value) => `\`${value}\``).join(', ')}`,
          one.schema.default !== undefined && `default \`${one.schema.default}\``,
        ]
          .filter(Boolean)
          .join('; '),
      ),
    ])
  const body = resolved(requestBody)
  return [
    `### ${method} ${path}`,
    `${prose(summary)}. Operation \`${operationId}\`.`,
    ...(description === undefined ? [] : [prose(description)]),
    ...(inputs.length === 0 ? [] : [table(['parameter', 'in', ''], inputs)]),
    ...(body === undefined ? [] : [`**Body** ${prose(body.description)}`, jsonFence(exampleOf(contentOf(body)))]),
    ...Object.entries(responses).flatMap(([status, given]) => successBlocks(status, resolved(given), path)),
    table(
      ['error', 'code', 'when'],
      Object.entries(responses).flatMap(([status, given]) => errorRows(status, resolved(given))),
    ),
  ]
}

function contentOf({ content = {} }) {
  return Object.values(content)[0]
}

function jsonFence(value) {
  return fence(JSON.stringify(value, null, 2), 'json')
}

function successBlocks(status, response, path) {
  if (Number(status) >= 400) return []
  const content = contentOf(response)
  const said = `**${status}** ${prose(response.description)}`
  if (content === undefined) return [said]
  if (content.examples === undefined) return [said, jsonFence(exampleOf(content))]
  const { openpgp, ssh } = content.examples
  return [said, fence((path.endsWith('.gpg') ? openpgp : ssh).value.trimEnd(), 'text')]
}

function errorRows(status, { description }) {
  if (Number(status) < 400) return []
  return description.split('\n\n').map((line) => {
    const [, code, when] = /^(`\w+`): (.*)$/s.exec(line)
    return [status, cell(code), cell(when)]
  })
}

function exampleOf({ example, schema }) {
  if (example !== undefined) return example
  const { examples, items, allOf, anyOf, properties } = resolved(schema)
  if (examples !== undefined) return examples[0]
  if (items !== undefined) return [exampleOf({ schema: items })]
  const parts = allOf ?? anyOf
  if (parts !== undefined) return Object.assign({}, ...parts.map((part) => exampleOf({ schema: part })))
  if (properties === undefined) throw new Error(`the OpenAPI document needs an example of ${JSON.stringify(schema)}`)
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, exampleOf({ schema: property })]),
  )
}

/** The comment above the first place that matches. */
function commentAbove(path, pattern) {
  const text = sourceText(path)
  const end = text.search(pattern)
  const comment = text.slice(text.lastIndexOf('/**', end), end).trimEnd()
  if (end === -1 || !comment.endsWith('*/')) throw new Error(`${path} has no doc comment above ${pattern}`)
  return parseDoc(comment).text
}

export function exitCodeTable() {
  return table(
    ['code', ''],
    EXIT_CODES.map((text) => [text[0], cell(text.slice(2))]),
  )
}

export function environmentTable() {
  const [block] = /export interface Environment \{[\s\S]*?\n\}/.exec(sourceText('src/cli/command.ts'))
  const members = [...block.matchAll(/(\/\*\*[\s\S]*?\*\/)\s+readonly (\w+)/g)]
  return table(
    ['variable', ''],
    members.map(([, comment, name]) => [`\`${name}\``, cell(parseDoc(comment).text)]),
  )
}

export function commandPage() {
  const io = { out: () => undefined, err: () => undefined }
  return commandsIn(createProgram(io)).flatMap(commandBlocks)
}

function commandsIn(command) {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(commandsIn)
}

function commandBlocks(command) {
  const path = pathOf(command)
  const lines = helpAfter(command)
  const examples = lines.match(/^Examples\n((?: {2}.*\n?)+)/m)
  const [notes] = lines
    .replace(examples?.[0] ?? '', '')
    .replace(DATABASE_HELP, '')
    .replace(/\n{3,}/g, '\n\n')
    .split('Exit codes\n')
  const options = command.options.map(({ flags, description, defaultValue, argChoices, mandatory }) => [
    `\`${flags}\``.replaceAll('|', '\\|'),
    cell(
      [
        description + (argChoices ? `: ${argChoices.map((choice) => `\`${choice}\``).join(', ')}` : ''),
        mandatory && 'required',
        defaultValue !== undefined && `default \`${defaultValue}\``,
      ]
        .filter(Boolean)
        .join('; '),
    ),
  ])
  const values = command.registeredArguments.map((one) => [
    `\`${one.name()}\``,
    cell([one.description, one.argChoices?.join(', ')].filter(Boolean).join(': ')),
  ])
  return [
    `## ${path}`,
    `${prose(command.description())[0].toUpperCase()}${prose(command.description()).slice(1)}.`,
    fence(`${path} ${command.usage()}`, 'sh'),
    ...(values.some(([, what]) => what !== '') ? [table(['argument', ''], values)] : []),
    ...(options.length === 0 ? [] : [table(['option', ''], options)]),
    ...(examples === null ? [] : [fence(examples[1].replace(/^ {2}/gm, '').trimEnd(), 'sh')]),
    ...(notes.trim() === '' ? [] : [prose(notes.trim())]),
  ]
}

function pathOf(command) {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`
}

/** The text below the list of options. */
function helpAfter(command) {
  let text = ''
  command.configureOutput({
    writeOut: (more) => {
      text += more
    },
  })
  command.outputHelp()
  return text.slice(command.helpInformation().length)
}

export function fixtureExample() {
  return [
    '## An example',
    'The fixture of `createTestForge`, if you give none. `forgelet serve --fixture` takes the same, as JSON or YAML.',
    fence(JSON.stringify(DEFAULT_FIXTURE, null, 2), 'json'),
  ]
}

export function tableDescriptions() {
  const plan = postgresSchemaPlan()
  const views = plan.flatMap((sql) => [...sql.matchAll(/create (?:or replace )?view "(\w+)" \(([^)]*)\)/g)])
  const about = commentAbove('src/storage/sql/schema/ddl.ts', /function views/)
  return [
    '## Views',
    prose(about),
    table(
      ['view', 'columns'],
      views.map(([, name, columns]) => [`\`${name}\``, columns.replaceAll('"', '`')]),
    ),
    '## Tables',
    prose(commentAbove('src/storage/sql/schema/tables.ts', /type BaseType/)),
    table(
      ['table', 'what', 'columns', 'primary key'],
      Object.entries(TABLE_DESCRIPTIONS).map(([name, { columns, key = ['id'] }]) => [
        `\`forgelet_${name}\``,
        cell(commentAbove('src/storage/sql/schema/tables.ts', new RegExp(`^  ${name}: \\{`, 'm'))),
        Object.entries(columns)
          .map(
            ([column, type]) =>
              `\`${column}\` ${Array.isArray(type) ? type.map((one) => `"${one}"`).join(' or ') : type}`,
          )
          .join(', '),
        key.map((column) => `\`${column}\``).join(', '),
      ]),
    ),
    '`forgelet schema plan` prints the statements that create them in each database.',
  ]
}
