/** A value that can be written. Property names must be words. */
export type YamlValue =
  | string
  | number
  | boolean
  | null
  | readonly YamlValue[]
  | { readonly [property: string]: YamlValue }

// YAML allows these characters only as escapes; some readers take U+0085, U+2028 and U+2029 as ends of lines.
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g

/**
 * Writes one item of a list. Every text is quoted: readers of YAML 1.1 take `yes`, `1e3` and `2024-02-29` for other types.
 * Readers of YAML 1.2 read the same.
 */
export function yamlItem(item: YamlValue): string {
  return itemAt('', item)
}

/** Writes a mapping as a document. */
export function yamlDocument(properties: { readonly [property: string]: YamlValue }): string {
  return Object.entries(properties)
    .map(([name, value]) => `${name}:${valueAt('', value)}`)
    .join('')
}

function itemAt(indent: string, item: YamlValue): string {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return `${indent}-${valueAt(indent, item)}`

  const inner = `${indent}  `
  const lines = Object.entries(item).map(([name, value]) => `${name}:${valueAt(inner, value)}`)
  return `${indent}- ${lines.length === 0 ? '{}\n' : lines.join(inner)}`
}

function valueAt(indent: string, value: YamlValue): string {
  if (typeof value === 'string') return ` ${quoted(value)}\n`
  if (typeof value !== 'object' || value === null) return ` ${String(value)}\n`
  const items = Array.isArray(value) ? value : Object.entries(value)
  if (items.length === 0) return Array.isArray(value) ? ' []\n' : ' {}\n'
  const inner = `${indent}  `
  if (Array.isArray(value)) return `\n${value.map((item) => itemAt(inner, item)).join('')}`
  return `\n${Object.entries(value)
    .map(([name, property]) => `${inner}${name}:${valueAt(inner, property)}`)
    .join('')}`
}

/** A text of JSON is a text of YAML, but for characters that YAML wants escaped. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(
    UNPRINTABLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
