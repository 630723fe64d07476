import type { ValueNode } from '@humanwhocodes/momoa'
import { parse, tokenize } from '@humanwhocodes/momoa'
import type { Finding, Path } from '../documents/source-record.ts'
import { DUPLICATE_KEY } from '../documents/source-record.ts'

// JSON.parse reads the records. A slower parser finds the line and the column of an error. It runs only after an error.

/** Returns the index of what keeps a text from being JSON: its length, if only the end is missing. */
export function faultIn(text: string): number {
  try {
    parse(text, { mode: 'json' })
  } catch (error) {
    const isInside = error instanceof Error && 'offset' in error && !AT_END.test(error.message)
    return isInside && typeof error.offset === 'number' ? error.offset : text.length
  }
  // The parser accepts control characters in texts.
  for (const { type, loc } of tokenize(text, { mode: 'json' })) {
    const control = type === 'String' ? text.slice(loc.start.offset, loc.end.offset).search(CONTROL) : -1
    if (control !== -1) return loc.start.offset + control
  }
  return 0
}

/** The parser takes the end of a text for this character. */
const AT_END = /end of input|\uffff/
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has none of them in texts
const CONTROL = /[\0-\x1f]/

/** Returns a finding for each property that occurs a second time in its object. */
export function duplicatesIn(text: string): readonly Finding[] {
  return [...duplicates(parse(text, { mode: 'json' }).body, [])]
}

function* duplicates(node: ValueNode, path: Path): Generator<Finding, void, void> {
  if (node.type === 'Array') {
    for (const [at, { value }] of node.elements.entries()) yield* duplicates(value, [...path, at])
  }
  if (node.type !== 'Object') return

  const names = new Set<string>()
  for (const { name, value } of node.members) {
    const inner = [...path, nameOf(name)]
    if (names.has(nameOf(name))) yield { path: inner, ...DUPLICATE_KEY }
    names.add(nameOf(name))
    yield* duplicates(value, inner)
  }
}

function nameOf(name: { readonly value: string } | { readonly name: string }): string {
  return 'value' in name ? name.value : name.name
}
