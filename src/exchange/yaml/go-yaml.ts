// go-yaml, with which Gitea writes its dumps, differs from YAML 1.2 in two points. It takes U+2028 and U+2029 for ends of
// lines, as YAML 1.1 does: behind them it indents, and another property may follow. And up to 4.0.0-rc.3 it says of a block
// that begins with a blank or a line break that it is indented by 4, where it is indented by 2. 3.0.1 also leaves out the end of
// the line before such a block: the first line break of the text ends it. Only U+2028 and U+2029 show that, and a text that
// begins neither with another line break nor with a blank.

/** What YAML 1.2 reads differently. */
const DIFFERENT = /[\u2028\u2029]|\|4/
/** A line, and what ends it. */
const LINE = /([^\n\u2028\u2029]*)([\n\u2028\u2029]|$)/g
/** A property or an item of a list whose value is a block. */
const BLOCK = /^(?<indent> *)(?<hyphens>(?:- )*)(?<key>\w+: )?\|(?<hint>\d?)(?<chomp>[-+]?)$/
/** The beginning of a property or of an item whose value is in single quotes. */
const QUOTED = /^ *(?:- )*(?:\w+: )?'/

/** Returns what go-yaml wrote so that a reader of YAML 1.2 finds the same texts in it. */
export function fromGoYaml(text: string): string {
  if (!DIFFERENT.test(text)) return text

  const lines = Array.from(text.matchAll(LINE), ([, line = '', end = '']): Line => [line, end])
  let result = ''
  let quotes = 0
  for (let at = 0; at < lines.length; ) {
    const [line = '', end = ''] = lines[at] ?? []
    at += 1
    const isQuoted = quotes % 2 === 1
    const block = isQuoted ? undefined : BLOCK.exec(line)?.groups
    if (block !== undefined) {
      const { indent = '', hyphens = '', key = '', hint = '', chomp = '' } = block
      const column = indent.length + Math.max(0, hyphens.length - (key === '' ? 2 : 0))
      const width = hint === '' ? (/^ */.exec(lines[at]?.[0] ?? '')?.[0].length ?? 0) : column + widthOf(hint, column)
      const content = blockAt(lines, at, width)
      at += content.length
      const value = content.map(([each, break_]) => each.slice(width) + break_).join('')
      const isCut = end !== '\n' || (hint !== '' && !/^[ \n\u2028\u2029]/.test(value))
      const whole = `${isCut ? end : ''}${chomp === '-' ? value.slice(0, -1) : value}`
      result += `${indent}${hyphens}${key}${JSON.stringify(whole)}\n`
    } else {
      result += (isQuoted ? line.replace(/^ +/, '') : line) + end
      // Within quotes a quote is two.
      if (isQuoted || QUOTED.test(line)) quotes += line.split("'").length - 1
    }
  }
  return result
}

type Line = readonly [line: string, end: string]

/** Returns by how many blanks a block is indented more than its property. */
function widthOf(hint: string, column: number): number {
  return hint === '4' && column > 0 ? 2 : Number(hint)
}

/** Returns the lines of a block. */
function blockAt(lines: readonly Line[], from: number, width: number): readonly Line[] {
  const isInside = ([line = '']: Partial<Line>): boolean => line === '' || line.startsWith(' '.repeat(width))
  let end = from
  while (end < lines.length && isInside(lines[end] ?? [])) end += 1
  return lines.slice(from, end)
}
