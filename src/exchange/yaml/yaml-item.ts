import type * as Yaml from 'yaml'
import type { Finding, Path, Place } from '../documents/record-batch.ts'
import { DUPLICATE_KEY, halfPairs } from '../documents/record-batch.ts'
import { invalidUtf8At } from '../json/utf8.ts'
import { plainItem } from './plain-item.ts'
import type { RawItem, YamlFault } from './yaml-scanner.ts'

/** The functions of the package that parse. */
export type YamlParsers = Pick<typeof Yaml, 'Composer' | 'isMap' | 'isNode' | 'isScalar' | 'isSeq' | 'Lexer' | 'Parser'>

/** The records of a raw item: one, or those of a list in brackets. */
export interface ParsedItem {
  readonly records: readonly unknown[]
  /** Where each record begins. */
  readonly places: readonly Place[]
  /** Findings of each record that do not end the reading. */
  readonly findings: readonly (readonly Finding[])[]
  readonly fault: YamlFault | undefined
}

/** More tokens need more memory than a record may. */
const MAX_TOKENS = 250_000
/** What the package puts before the text of a scalar that is not quoted. */
const BEFORE_SCALAR = '\u001f'
/** The first characters of tokens that could make a small text large, or change what a value is. */
const FORBIDDEN: ReadonlyMap<string, { readonly code: string; readonly message: string }> = new Map([
  ['*', { code: 'alias', message: 'expected no aliases' }],
  ['&', { code: 'alias', message: 'expected no anchors' }],
  ['!', { code: 'yaml', message: 'expected no tags' }],
])
/** Half of a surrogate pair can only come from an escape. */
const HALF_OF_A_PAIR = /\\(?:u|U0000)[dD][89a-fA-F]/
const NO_FINDINGS: readonly (readonly Finding[])[] = []
const LINE_FEED = 10
/** A hyphen and the blank behind it, before the first property of a plain item. */
const HYPHEN_LENGTH = 2
const COLLECTIONS: readonly string[] = ['block-map', 'block-seq', 'flow-collection']
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const encoder = new TextEncoder()

/** A fault, and the index of the character that has it. */
interface TextFault {
  readonly code: string
  readonly message: string
  readonly at: number
}

/** Parses a raw item. */
export function parseItem(yaml: YamlParsers, raw: RawItem, maxDepth: number): ParsedItem {
  const text = textOf(raw.bytes)
  if (text === undefined) {
    const at = invalidUtf8At(raw.bytes, 0, raw.bytes.length)
    return failed({ code: 'utf8', message: 'expected UTF-8', ...placeOf(raw, at) })
  }
  const plain = plainItem(text, maxDepth)
  if (plain !== undefined) {
    return { records: [plain], places: [placeOf(raw, HYPHEN_LENGTH)], findings: NO_FINDINGS, fault: undefined }
  }

  const list = listIn(yaml, text, maxDepth)
  if ('code' in list) {
    const at = encoder.encode(text.slice(0, list.at)).length
    return failed({ code: list.code, message: list.message, ...placeOf(raw, at) })
  }
  const mayHaveHalfPairs = HALF_OF_A_PAIR.test(text)
  const conversions = list.items.map((node) => new NodeConversion(yaml, node, mayHaveHalfPairs))
  return {
    records: conversions.map(({ record }) => record),
    places: placesOf(yaml, raw, text, list.items),
    findings: conversions.map(({ findings }) => findings),
    fault: undefined,
  }
}

/** Returns where the values at these paths of a record begin, or the innermost value around one that does not exist. */
export function placesInItem(
  yaml: YamlParsers,
  raw: RawItem,
  index: number,
  paths: readonly Path[],
  maxDepth: number,
): readonly Place[] {
  const text = decoder.decode(raw.bytes)
  const list = listIn(yaml, text, maxDepth)
  const record = 'items' in list ? list.items[index] : undefined
  return paths.map((path) => placeOf(raw, encoder.encode(text.slice(0, startOf(yaml, record, path))).length))
}

function failed(fault: YamlFault): ParsedItem {
  return { records: [], places: [], findings: [], fault }
}

/** Walks through the text once, however many records it has. */
function placesOf(yaml: YamlParsers, raw: RawItem, text: string, nodes: readonly unknown[]): readonly Place[] {
  let { offset, line } = raw
  let last = 0
  return nodes.map((node) => {
    const start = rangeStart(yaml, node)
    const between = text.slice(last, start)
    last = start
    offset += encoder.encode(between).length
    line += between.split('\n').length - 1
    return { offset, line }
  })
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

function placeOf({ bytes, offset, line }: RawItem, at: number): Place {
  let lines = 0
  for (let feed = bytes.indexOf(LINE_FEED); feed !== -1 && feed < at; feed = bytes.indexOf(LINE_FEED, feed + 1)) {
    lines += 1
  }
  return { offset: offset + at, line: line + lines }
}

/** Returns the list that a text is, or why it cannot be read. */
function listIn(yaml: YamlParsers, text: string, maxDepth: number): TextFault | { readonly items: readonly unknown[] } {
  const tokens = tokensOf(yaml, text, maxDepth)
  if ('code' in tokens) return tokens

  // Duplicate keys are found by the conversion: the package compares each key with all others.
  const composer = new yaml.Composer({ version: '1.2', schema: 'core', uniqueKeys: false, logLevel: 'silent' })
  const [document, ...more] = composer.compose(tokens.all, true, text.length)
  const [problem] = [...(document?.errors ?? []), ...(document?.warnings ?? [])]
  if (problem !== undefined) {
    return { code: 'yaml', message: `expected YAML: ${firstLine(problem.message)}`, at: problem.pos[0] }
  }
  const list = document?.contents
  if (more.length === 0 && yaml.isScalar(list) && list.value === null) return { items: [] } // the marker of a document
  if (more.length > 0 || !yaml.isSeq(list)) return { code: 'yaml', message: 'expected a list of records', at: 0 }
  return { items: list.items }
}

/** Splits a text into tokens, as long as they are neither too many nor too deep. */
function tokensOf(
  yaml: YamlParsers,
  text: string,
  maxDepth: number,
): TextFault | { readonly all: readonly Yaml.CST.Token[] } {
  const parser = new yaml.Parser()
  const all: Yaml.CST.Token[] = []
  let count = 0
  let isScalar = false
  for (const lexeme of new yaml.Lexer().lex(text)) {
    const forbidden = isScalar ? undefined : FORBIDDEN.get(lexeme.charAt(0))
    if (forbidden !== undefined) return { ...forbidden, at: parser.offset }
    isScalar = lexeme === BEFORE_SCALAR
    all.push(...parser.next(lexeme))
    count += 1
    if (count > MAX_TOKENS) {
      return { code: 'too_large', message: `expected at most ${MAX_TOKENS} tokens in one record`, at: parser.offset }
    }
    if (parser.stack.length > maxDepth && depthOf(parser.stack) > maxDepth) {
      return {
        code: 'depth',
        message: `expected at most ${maxDepth} lists and objects inside each other`,
        at: parser.offset,
      }
    }
  }
  all.push(...parser.end())
  return { all }
}

/** The list of records itself does not count. */
function depthOf(stack: readonly Yaml.CST.Token[]): number {
  return stack.filter(({ type }) => COLLECTIONS.includes(type)).length - 1
}

function firstLine(message: string): string {
  return message.replace(/ at line \d+, column \d+:?.*$/s, '')
}

/** Returns the index of the first character of the value at a path, or of the innermost value around it. */
function startOf(yaml: YamlParsers, record: unknown, path: Path): number {
  let node = record
  let start = rangeStart(yaml, node)
  for (const step of path) {
    if (yaml.isMap(node)) node = node.items.findLast(({ key }) => keyOf(yaml, key) === step)?.value
    else if (yaml.isSeq(node)) node = node.items[Number(step)]
    else node = undefined
    if (!yaml.isNode(node)) break
    start = rangeStart(yaml, node)
  }
  return start
}

function rangeStart(yaml: YamlParsers, node: unknown): number {
  return yaml.isNode(node) ? (node.range?.[0] ?? 0) : 0
}

function keyOf(yaml: YamlParsers, key: unknown): string | undefined {
  return yaml.isScalar(key) ? String(key.value) : undefined
}

/** The value of a node, and what is wrong in it. */
class NodeConversion {
  readonly record: unknown
  readonly findings: Finding[] = []
  readonly #yaml: YamlParsers
  /** The path of the value that is being converted. */
  readonly #path: PropertyKey[] = []

  constructor(yaml: YamlParsers, node: unknown, mayHaveHalfPairs: boolean) {
    this.#yaml = yaml
    this.record = this.#value(node)
    if (mayHaveHalfPairs) this.findings.push(...halfPairs(this.record, []))
  }

  #value(node: unknown): unknown {
    if (this.#yaml.isScalar(node)) return node.value
    if (this.#yaml.isMap(node)) return this.#object(node)
    return this.#yaml.isSeq(node) ? node.items.map((item, index) => this.#inner(index, item)) : null
  }

  #inner(step: PropertyKey, node: unknown): unknown {
    this.#path.push(step)
    const value = this.#value(node)
    this.#path.pop()
    return value
  }

  #object(map: Yaml.YAMLMap): object {
    const properties = new Map<string, unknown>()
    for (const { key, value } of map.items) {
      const name = keyOf(this.#yaml, key)
      if (name === undefined) {
        this.findings.push({
          path: [...this.#path],
          code: 'yaml',
          message: 'expected a text as the name of each property',
        })
        continue
      }
      if (properties.has(name)) this.findings.push({ path: [...this.#path, name], ...DUPLICATE_KEY })
      properties.set(name, this.#inner(name, value))
    }
    return Object.fromEntries(properties)
  }
}
