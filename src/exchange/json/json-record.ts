import type { ValueNode } from '@humanwhocodes/momoa'
import { parse, tokenize } from '@humanwhocodes/momoa'
import type { Finding, Path } from '../documents/record-batch.ts'
import { DUPLICATE_KEY } from '../documents/record-batch.ts'

// JSON.parse reads the records. A slower parser finds the line and the column of an error. It runs only after an error.

/** Returns the index of the first character of a text that is not JSON: its length, if only the end is missing. */
export function faultIn(text: string): number {
  return unreadableIn(text) ?? thrownAt(text, () => parse(text, { mode: 'json' })) ?? text.length
}

/** Returns the index of the first character that no token of JSON has. Undefined: there is none, apart from the end. */
export function unreadableIn(text: string): number | undefined {
  const at = thrownAt(text, () => tokenize(text, { mode: 'json' }))
  const control = controlInText(text)
  return control === undefined || (at !== undefined && at < control) ? at : control
}

/** The parser accepts control characters in texts. A quote that is missing leaves a text with the end of its line. */
function controlInText(text: string): number | undefined {
  let isInText = false
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at)
    if (character === '"') isInText = !isInText
    else if (character === '\\') at += 1
    else if (isInText && character < ' ') return at
  }
  return undefined
}

function thrownAt(text: string, read: () => unknown): number | undefined {
  try {
    read()
    return undefined
  } catch (error) {
    const isInside = error instanceof Error && 'offset' in error && !AT_END.test(error.message)
    return isInside && typeof error.offset === 'number' ? error.offset : text.length
  }
}

/** The parser takes the end of a text for this character. */
const AT_END = /end of input|\uffff/

/** Returns the indexes of the values at these paths, or of the innermost values around those that do not exist. */
export function indexesOf(text: string, paths: readonly Path[]): readonly number[] {
  if (paths.every(({ length }) => length === 0)) return paths.map(() => 0)

  const { body } = parse(text, { mode: 'json' })
  return paths.map((path) => {
    let node: ValueNode | undefined = body
    let at = body.loc.start.offset
    for (const step of path) {
      if (node.type === 'Object') node = node.members.findLast(({ name }) => nameOf(name) === step)?.value
      else node = node.type === 'Array' ? node.elements[Number(step)]?.value : undefined
      if (node === undefined) break
      at = node.loc.start.offset
    }
    return at
  })
}

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
