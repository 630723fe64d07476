import { dump } from 'js-yaml'

/** Writes a list of items, or a mapping. Every text is quoted: readers of YAML 1.1 take `yes`, `1e3` and `2024-02-29` for other types. */
export function yamlOf(value: object): string {
  return dump(value, { forceQuotes: true, quoteStyle: 'double', lineWidth: -1 })
}
