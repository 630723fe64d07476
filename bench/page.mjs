// Writes the figures of docs/performance.md, between its markers, and its charts.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { GROWTH_TITLE, growthChart, RATIOS_TITLE, ratioChart } from './charts.mjs'

const DOCS = join(import.meta.dirname, '..', 'docs')
const BEGIN = '<!-- The figures: npm run bench writes them. -->'
const END = '<!-- The end of the figures. -->'

/** Writes the page and the charts. A measurement that was never made is left out. */
export function writePage({ growth, ...measurements }) {
  const made = Object.values(measurements).filter((measurement) => measurement !== undefined)
  const rows = made.flatMap(({ measured }) => measured)
  const [speeds, costs] = [rows.filter((row) => !isCost(row)), rows.filter(isCost)]

  const page = join(DOCS, 'performance.md')
  const [before, , after] = split(readFileSync(page, 'utf8'))
  const parts = [
    `${conditions([...made, ...(growth === undefined ? [] : [growth])])}\n`,
    speedTable(speeds),
    image('ratios', ratioChart(speeds), RATIOS_TITLE),
    costTable(costs),
    ...(growth === undefined ? [] : growthParts(growth.measured)),
  ]
  const figures = parts.filter((part) => part !== '').join('\n')
  writeFileSync(page, [before, BEGIN, '\n\n', figures, '\n', END, after].join(''))
}

function split(text) {
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)]
  if (begin === -1 || end < begin) throw new Error(`docs/performance.md must contain ${BEGIN} and ${END}`)
  return [text.slice(0, begin), text.slice(begin, end), text.slice(end + END.length)]
}

/** A chart is a file beside the page. */
function image(name, svg, alt) {
  writeFileSync(join(DOCS, `performance-${name}.svg`), svg)
  return `![${alt}](performance-${name}.svg)\n`
}

function conditions(made) {
  const dates = made.map(({ date }) => date).sort()
  const span = dates[0] === dates.at(-1) ? dates[0] : `${dates[0]} to ${dates.at(-1)}`
  const versions = [...new Set(made.map(({ node }) => node))].join(', ')
  return `Measured on ${span} with Node ${versions} on ${made[0].cores} cores that also did other work.`
}

function isCost({ as, reach }) {
  return as === 'cost' || reach?.startsWith('<=') === true
}

function speedTable(rows) {
  return table(
    ['work', 'floor or peer', 'ratio', 'spread', 'requests/s', 'goal'],
    rows.map((row) => [
      row.work,
      row.floor,
      number(row.ratio),
      spread(row),
      row.wall ? number(row.wall) : '',
      goal(row),
    ]),
  )
}

function costTable(rows) {
  return table(
    ['work', 'compared with', 'cost', 'spread', 'goal'],
    rows.map((row) => [row.work, row.floor, number(row.ratio), spread(row), goal(row)]),
  )
}

function growthParts(databases) {
  const [{ calls, sizes }] = databases
  const header = ['call', ...databases.map(({ database }) => database)]
  const most = sizes.at(-1).toLocaleString('en')
  return [
    `The time of a call with ${most} rows, with ${sizes[0].toLocaleString('en')} rows = 1:\n`,
    table(
      header,
      calls.map(({ call }, index) => [
        call,
        ...databases.map((database) => number(database.calls[index].ratios.at(-1))),
      ]),
    ),
    image('growth', growthChart(databases), GROWTH_TITLE),
  ]
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
  const line = (cells) => `| ${cells.join(' | ')} |\n`
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('')
}
