import { readdirSync } from 'node:fs'
import ts from 'typescript'
import { exportBlock, exportRow } from './declarations.mjs'
import { checkExports, entries, exportNamed, publicExports } from './exports.mjs'
import { cell, docOf, fence, links, parseDoc, prose, sourceOf, table } from './markdown.mjs'
import {
  actionTable,
  commandPage,
  endpointPage,
  environmentTable,
  exitCodeTable,
  fixtureExample,
  propertiesRead,
  statusOf,
  tableDescriptions,
} from './tables.mjs'

// The pages of the reference. Each export is on the page that claims its file: the longest prefix wins, and then the
// names. A page may begin with tables of its own.

/** The folders of the services. Three of them have other titles, or a page of their own. */
const SERVICES = readdirSync(new URL('../../src/core', import.meta.url), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !['events', 'exchange', 'lifecycle'].includes(entry.name))
  .map(({ name }) => name)

const PAGES = [
  {
    file: 'create-forge',
    title: 'createForge',
    intro: 'The options of `createForge`, what a forge is, and the storages.',
    sections: [
      ['The forge', ['src/core/create-forge.ts', 'src/core/forge.ts', 'src/core/services.ts', 'src/core/call.ts']],
      ['The storages', ['src/storage/']],
    ],
  },
  {
    file: 'create-api',
    title: 'createApi',
    intro: 'The HTTP API over a forge: `createApi`, what a mount needs, and the properties that clients read.',
    before: propertiesRead,
    sections: [
      ['The API', ['src/http-adapters/routes/']],
      ['Mounts', ['src/http-adapters/']],
    ],
  },
  {
    file: 'services',
    title: 'Services',
    intro: 'Every method of a forge, what it returns and throws; the pure rules; the exchange of issues as streams.',
    sections: [
      ...SERVICES.map((name) => [capitalized(name.replace('-', ' ')), [`src/core/${name}/`]]),
      ['The exchange of issues', ['src/core/exchange/']],
      ['Deletions and members', ['src/core/lifecycle/']],
      ['Values', ['src/schema/']],
      [
        'Issue documents',
        ['src/exchange/', 'src/schema/documents/', 'src/schema/issue-record.ts', 'src/schema/canonical-issue.ts'],
      ],
    ],
  },
  {
    file: 'ports',
    title: 'Ports',
    intro: 'What the host implements: when the forge calls it, how often, and in which transaction.',
    before: actionTable,
    sections: [
      ['Who may', ['src/core/ports.ts', 'src/core/policy.ts', 'src/core/table-roles.ts', 'src/schema/access.ts']],
      ['Names and JSON', ['src/http-adapters/routes/ports.ts', 'src/http-adapters/routes/mount-options.ts']],
      ['Changes', ['src/storage/contract/stores.ts'], /^BeforeCommit$/],
      ['Signing keys', ['src/signing-keys/']],
      ['Issues', ['src/core/exchange/issue-tracker.ts']],
      ['Observation', ['src/core/observer.ts', 'src/core/instrument-storage.ts']],
    ],
  },
  {
    file: 'events',
    title: 'Events',
    intro: 'A change writes its events in its own transaction. Each has a type, a subject and data.',
    before: eventTypes,
    sections: [
      ['The service', ['src/core/events/']],
      ['The types', ['src/schema/records.ts'], /Event|^HostThing$/],
    ],
  },
  {
    file: 'errors',
    title: 'Errors',
    intro: 'Every code: its HTTP status, its cause, and what to do. A program reads `code`; the message is for people.',
    before: errorCodes,
    sections: [['The types', ['src/schema/errors.ts', 'src/http-adapters/routes/error-status.ts']]],
  },
  {
    file: 'endpoints',
    title: 'Endpoints',
    intro: 'Every path of the HTTP API, relative to the mount point, with an example of its bodies.',
    before: endpointPage,
    sections: [],
  },
  {
    file: 'command-line',
    title: 'Command line',
    intro: 'Every command of `npx forgelet`, with its options and exit codes.',
    before: () => ['## Exit codes', exitCodeTable(), '## Environment variables', environmentTable(), ...commandPage()],
    sections: [],
  },
  {
    file: 'fixture',
    title: 'Fixture',
    intro:
      'The data that a server, the demo or a test forge begins with; and what `forgelet/standalone` and `forgelet/testing` export.',
    before: fixtureExample,
    sections: [
      ['The file', ['src/standalone/fixture/']],
      ['The ready-made host', ['src/standalone/']],
      ['Tests', ['src/testing/']],
    ],
  },
  {
    file: 'tables',
    title: 'Tables and views',
    intro:
      'Hosts may read and join the views. The tables behind them are private. A storage of your own keeps the same state.',
    before: tableDescriptions,
    sections: [['The storage contract', ['src/storage/contract/']]],
  },
]

/** The pages by path, as Markdown. */
export function referencePages() {
  checkExports((node) => docOf(node) !== undefined)
  const placed = placeExports()
  const pages = PAGES.map(({ file, title, intro, before = () => [], sections }) => {
    const blocks = sections.flatMap((section) => [`## ${section[0]}`, ...placed.get(section).flatMap(exportBlock)])
    return [file, document(title, intro, [...before(), ...blocks])]
  })
  return Object.fromEntries(
    [...pages, ['index', indexPage()]].map(([file, text]) => [`docs/reference/${file}.md`, text]),
  )
}

function document(title, intro, blocks) {
  const note = '<!-- Made by `npm run reference` from the sources. Edit the doc comments there. -->'
  return `${[`# ${title}`, note, prose(intro), ...blocks].join('\n\n')}\n`
}

/** The anchor of a heading, as GitHub and the site make it. */
function slugOf(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
}

/** Gives each export to a section, and fills the links. */
function placeExports() {
  const sections = PAGES.flatMap((page) => page.sections.map((section) => ({ page, section })))
  const placed = new Map(sections.map(({ section }) => [section, []]))
  for (const found of publicExports) {
    const [best] = sections
      .map((one) => ({ ...one, fit: fitOf(one.section, found) }))
      .filter(({ fit }) => fit > 0)
      .sort((a, b) => b.fit - a.fit)
    if (best === undefined) throw new Error(`no page of the reference is for ${found.name} of ${found.file}`)
    placed.get(best.section).push(found)
    found.page = best.page.file
  }
  for (const found of publicExports) {
    const isOnlyOne = publicExports.every((one) => one === found || one.name !== found.name || one.page !== found.page)
    found.heading = isOnlyOne ? found.name : `${found.name} of ${found.places[0].entry}`
    found.link = `${found.page}.md#${slugOf(found.heading)}`
    if (!links.has(found.name)) links.set(found.name, found.link)
  }
  for (const { name } of codesOfErrors()) links.set(name, `errors.md#${name.toLowerCase()}`)
  for (const [[, files], list] of placed) {
    const rank = ({ file }) => files.findIndex((prefix) => file.startsWith(prefix))
    list.sort((a, b) => rank(a) - rank(b) || (a.file < b.file ? -1 : a.file > b.file ? 1 : a.position - b.position))
  }
  return placed
}

function fitOf([, files, names], { file, name }) {
  if (names !== undefined && !names.test(name)) return 0
  const length = Math.max(0, ...files.filter((prefix) => file.startsWith(prefix)).map((prefix) => prefix.length))
  return length === 0 || names === undefined ? length : length + 0.5
}

/** Every code with its comment and its details. */
function codesOfErrors() {
  const [details] = exportNamed('ForgeErrorDetails', 'src/schema/').declarations
  const [wire] = exportNamed('WireCode', 'src/schema/').declarations
  return [
    ...details.members.map((member) => ({ name: member.name.getText(), doc: docOf(member), details: member.type })),
    ...[...wire.getText().matchAll(/(\/\*\*(?:(?!\*\/)[\s\S])*\*\/)?\s*\| '(\w+)'/g)].map(([, comment, name]) => ({
      name,
      doc: comment === undefined ? undefined : parseDoc(comment),
    })),
  ]
}

function errorCodes() {
  return codesOfErrors().flatMap(({ name, doc, details }) => {
    const [, cause, remedy] = /^([\s\S]*?)\s+To do: ([\s\S]*)$/.exec(doc?.text ?? '') ?? []
    if (remedy === undefined) throw new Error(`the doc comment of ${name} must name the cause, and "To do: …"`)
    const hasDetails = details !== undefined && details.kind !== ts.SyntaxKind.UndefinedKeyword
    return [
      `## ${name}`,
      `**Status** ${statusOf(name)}`,
      `**Cause** ${prose(cause)}`,
      `**What to do** ${prose(capitalized(remedy))}`,
      ...(hasDetails ? ['**Details**', fence(sourceOf(details))] : []),
    ]
  })
}

function capitalized(text) {
  return text[0].toUpperCase() + text.slice(1)
}

function eventTypes() {
  const [data] = exportNamed('ForgeEventData', 'src/schema/').declarations
  return data.members.flatMap((member) => {
    const name = member.name.text
    const doc = docOf(member)
    const [, when, subject] = /^([\s\S]*?)\s+(?:Subject: ([^.]+)|No subject)\.$/.exec(doc?.text ?? '') ?? []
    if (when === undefined) throw new Error(`the doc comment of ${name} must end with "Subject: …." or "No subject."`)
    const fields =
      subject
        ?.split(', ')
        .map((thing) => `\`${thing}Id\``)
        .join(', ') ?? 'none'
    return [`## ${name}`, prose(when), `**Subject** ${fields}`, `**Data** \`${sourceOf(member.type)}\``]
  })
}

function indexPage() {
  const pages = table(
    ['page', ''],
    PAGES.map(({ file, title, intro }) => [`[${title}](${file}.md)`, cell(intro)]),
  )
  const lists = entries.flatMap((entry) => {
    const rows = publicExports.flatMap((found) =>
      found.places.filter((place) => place.entry === entry).map(({ name }) => ({ name, row: exportRow(found, name) })),
    )
    const sorted = rows.sort((a, b) => (a.name < b.name ? -1 : 1)).map(({ row }) => row)
    return [`## ${entry}`, table(['export', ''], sorted)]
  })
  return document('Overview', 'Every option, method, code and command; below, everything that each entry exports.', [
    pages,
    ...lists,
  ])
}
