/** Characters that JSON does not escape, and that readers of YAML refuse or take for the end of a line. */
const ESCAPED = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g

/**
 * Writes a list, or a mapping whose keys are words. Every text is quoted: readers of YAML 1.1 take `yes`, `1e3` and `2024-02-29`
 * for other types. js-yaml cannot do it: a text of some millions of characters overflows its stack.
 */
export function yamlOf(value: object): string {
  return `${linesOf(value).join('\n')}\n`
}

function linesOf(value: unknown): readonly string[] {
  if (!isNested(value)) return [scalarOf(value)]
  if (Array.isArray(value)) return value.flatMap((item) => indented('- ', linesOf(item)))
  return Object.entries(value).flatMap(([key, each]) =>
    isNested(each) ? [`${key}:`, ...indented('  ', linesOf(each))] : [`${key}: ${scalarOf(each)}`],
  )
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0
}

/** JSON is YAML. */
function scalarOf(value: unknown): string {
  return JSON.stringify(value).replace(ESCAPED, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function indented(first: string, lines: readonly string[]): readonly string[] {
  return lines.map((line, at) => (at === 0 ? first : '  ') + line)
}
