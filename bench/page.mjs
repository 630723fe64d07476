// Writes the figures of docs/performance.md, between its markers, and its charts.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { GROWTH_TITLE, growthChart, RATIOS_TITLE, ratioChart } from './charts.mjs'

const DOCS = join(import.meta.dirname, '..', 'docs')
const BEGIN = '<!-- The figures: npm run bench writes them. -->'
const END = '<!-- The end of the figures. -->'

/** Writes the page and the charts. */
export function writePage({ growth, ...measurements }) {
  const made = Object.values(measurements)
  const rows = made.flatMap(({ measured }) => measured)
  const [speeds, costs] = [rows.filter(({ as }) => as === 'speed'), rows.filter(({ as }) => as === 'cost')]
  const figures = [
    BEGIN,
    conditions([...made, growth]),
    speedTable(speeds),
    image('ratios', ratioChart(speeds), RATIOS_TITLE),
    costTable(costs),
    growthTable(growth.measured),
    image('growth', growthChart(growth.measured), GROWTH_TITLE),
    END,
  ].join('\n\n')

  const page = join(DOCS, 'performance.md')
  const text = readFileSync(page, 'utf8')
  writeFileSync(page, text.slice(0, text.indexOf(BEGIN)) + figures + text.slice(text.indexOf(END) + END.length))
}

/** A chart is a file beside the page. */
function image(name, svg, alt) {
  writeFileSync(join(DOCS, `performance-${name}.svg`), svg)
  return `![${alt}](performance-${name}.svg)`
}

function conditions(made) {
  const dates = made.map(({ date }) => date).sort()
  const span = [...new Set([dates[0], dates.at(-1)])].join(' to ')
  const versions = [...new Set(made.map(({ node }) => node))].join(', ')
  return `Measured on ${span} with Node ${versions} on ${made[0].cores} cores that also did other work.`
}

function speedTable(rows) {
  const header = ['work', 'floor or peer', 'ratio', 'spread', 'requests/s', 'goal']
  return table(
    header,
    rows.map((row) => [row.work, row.floor, number(row.ratio), spread(row), number(row.wall), goal(row)]),
  )
}

function costTable(rows) {
  const header = ['work', 'compared with', 'cost', 'spread', 'goal']
  return table(
    header,
    rows.map((row) => [row.work, row.floor, number(row.ratio), spread(row), goal(row)]),
  )
}

function growthTable(databases) {
  const [{ calls, sizes }] = databases
  const rows = calls.map(({ call }, index) => [
    call,
    ...databases.map((database) => number(database.calls[index].ratios.at(-1))),
  ])
  const [fewest, most] = [sizes[0], sizes.at(-1)].map((size) => size.toLocaleString('en'))
  const title = `The time of a call with ${most} rows, with ${fewest} rows = 1:\n\n`
  return title + table(['call', ...databases.map(({ database }) => database)], rows)
}

function goal({ ratio, reach }) {
  if (reach === undefined) return ''
  const [sign, bound] = reach.split(' ')
  const isReached = sign === '>=' ? ratio >= Number(bound) : ratio <= Number(bound)
  return `${sign === '>=' ? '≥' : '≤'} ${bound}${isReached ? '' : ', missed'}`
}

function spread({ low, high }) {
  return `${number(low)} to ${number(high)}`
}

function number(value) {
  return value < 10 ? value.toFixed(2) : value.toFixed(0)
}

function table(header, rows) {
  return [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}
