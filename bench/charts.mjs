// The charts of docs/performance.md, as SVG. Their colours follow the reader's choice of a light or a dark page.

/** Distinguishable also with a colour vision deficiency. Source: Okabe and Ito, Color Universal Design */
const COLOURS = ['#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00', '#56B4E9', '#7F7F7F']

export const RATIOS_TITLE = 'The ratios of the table, with their spread and their goals'
export const GROWTH_TITLE = 'How the time of each call grows with the number of rows'

const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .small { font-size: 11px; fill: #59636e }
  .bold { font-weight: 600 }
  .grid { stroke: #d1d9e0; stroke-width: 1 }
  .axis { stroke: #59636e; stroke-width: 1.5 }
  .goal { stroke: #59636e; stroke-width: 2 }
  .back { fill: #ffffff }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .small { fill: #9198a1 }
    .grid { stroke: #3d444d }
    .axis, .goal { stroke: #9198a1 }
    .back { fill: #0d1117 }
  }`

const POWERS = Array.from({ length: 11 }, (_, index) => 2 ** (index - 6))

/** Every row as a dot on a logarithmic axis, with its spread as a line and its goal as a tick. */
export function ratioChart(rows) {
  const [width, left, right, top, step] = [960, 440, 70, 46, 40]
  const height = top + rows.length * step + 24
  const values = rows.flatMap(({ ratio, low, high, reach }) => [ratio, low, high, boundOf(reach) ?? ratio])
  const [least, most] = [Math.min(0.5, ...values), Math.max(2, ...values)]
  // The first is below every value, and the last above.
  const ticks = POWERS.filter((tick) => tick * 2 > least && tick / 2 < most)
  const x = logarithmic([ticks[0], ticks.at(-1)], [left, width - right])

  const parts = ticks.map((tick) => [
    line(x(tick), top - 14, x(tick), height - 24, tick === 1 ? 'axis' : 'grid'),
    text(x(tick), top - 20, tick < 1 ? `1/${1 / tick}` : `${tick}`, 'small', 'middle'),
  ])
  const bodies = rows.map(({ work, floor, ratio, low, high, reach }, index) => {
    const y = top + index * step + step / 2
    const bound = boundOf(reach)
    return [
      text(left - 20, y - 4, work, 'bold', 'end'),
      text(left - 20, y + 12, floor, 'small', 'end'),
      `<line x1="${x(low)}" y1="${y}" x2="${x(high)}" y2="${y}" stroke="${COLOURS[0]}" stroke-width="3" stroke-opacity="0.45"/>`,
      bound === undefined ? '' : line(x(bound), y - 9, x(bound), y + 9, 'goal'),
      dot(x(ratio), y, 5.5),
      text(width - 12, y + 4, ratio.toFixed(2), 'small', 'end'),
    ]
  })
  const legend = text(
    left,
    height - 4,
    '1 = the floor or peer; more is faster; dot: ratio, line: spread, tick: goal',
    'small',
    'start',
  )
  return svg({ width, height, title: RATIOS_TITLE }, [...parts, ...bodies, legend])
}

function boundOf(reach) {
  return reach === undefined ? undefined : Number(reach.split(' ')[1])
}

/** A panel for each database: the time of each call by the number of rows, on logarithmic axes. */
export function growthChart(databases) {
  const [panel, gap, left, top, plot] = [250, 26, 50, 34, 240]
  const [{ calls, sizes }] = databases
  const columns = 3
  const legendTop = top + plot + 52
  const width = left + databases.length * (panel + gap)
  const height = legendTop + Math.ceil(calls.length / columns) * 20
  const all = databases.flatMap((database) => database.calls.flatMap(({ ratios }) => ratios))
  const [least, most] = [Math.min(0.5, ...all), Math.max(10, ...all)]
  const ticks = [1, 10, 100, 1000].filter((tick) => tick < most * 3)
  const y = logarithmic([least * 0.8, most * 1.3], [top + plot, top])

  const panels = databases.map(({ database, calls: drawn }, index) => {
    const start = left + index * (panel + gap)
    const x = logarithmic([sizes[0], sizes.at(-1)], [start + 10, start + panel - 10])
    return [
      text(start, top - 14, database, 'bold', 'start'),
      ...ticks.map((tick) => line(start, y(tick), start + panel, y(tick), tick === 1 ? 'axis' : 'grid')),
      ...(index === 0 ? ticks.map((tick) => text(left - 8, y(tick) + 4, `${tick}×`, 'small', 'end')) : []),
      ...sizes.map((size) => text(x(size), top + plot + 18, short(size), 'small', 'middle')),
      ...drawn.map(({ ratios }, call) => {
        const points = ratios.map((ratio, at) => [x(sizes[at]), y(ratio)])
        return [polyline(points, COLOURS[call]), ...points.map(([across, up]) => dot(across, up, 3, COLOURS[call]))]
      }),
    ]
  })
  const legend = calls.map(({ call }, index) => {
    const [column, row] = [index % columns, Math.floor(index / columns)]
    const [start, middle] = [left + column * 270, legendTop + row * 20]
    return [
      `<rect x="${start}" y="${middle - 9}" width="14" height="4" fill="${COLOURS[index]}"/>`,
      text(start + 20, middle - 2, call, 'small', 'start'),
    ]
  })
  const label = text(left, top + plot + 34, 'rows; time of a call, with 1,000 rows = 1', 'small', 'start')
  return svg({ width, height, title: GROWTH_TITLE }, [...panels, label, ...legend])
}

function short(size) {
  return size >= 1_000_000 ? `${size / 1_000_000} M` : `${size / 1000} k`
}

function dot(x, y, radius, colour = COLOURS[0]) {
  return `<circle cx="${x}" cy="${y}" r="${radius}" fill="${colour}"/>`
}

function polyline(points, colour) {
  return `<polyline points="${points.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>`
}

/** A logarithmic scale from values to places. */
function logarithmic([from, to], [start, end]) {
  const span = Math.log(to) - Math.log(from)
  return (value) => Number((start + ((Math.log(value) - Math.log(from)) / span) * (end - start)).toFixed(1))
}

function line(x1, y1, x2, y2, style) {
  return `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" class="${style}"/>`
}

function text(x, y, content, style, anchor) {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return `<text x="${x}" y="${y}" class="${style}" text-anchor="${anchor}">${escaped}</text>`
}

function svg({ width, height, title }, parts) {
  const lines = parts.flat(3).filter((part) => part !== '')
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${title}</title>
<style>${STYLE}
</style>
<rect class="back" width="${width}" height="${height}"/>
${lines.join('\n')}
</svg>
`
}
