import { unreadableKey } from './unreadable-key.ts'

/** One `-----BEGIN …-----` block of a text: OpenPGP armor (RFC 9580, section 6.2) or PEM (RFC 7468). */
export interface KeyBlock {
  /** What stands behind BEGIN, for example `PGP PUBLIC KEY BLOCK`. */
  readonly label: string
  /** The lines between the first and the last. */
  readonly body: readonly string[]
}

/** A text, taken apart: its blocks, and what stands outside them without blank lines and `#` remarks. */
export interface KeyParts {
  readonly blocks: readonly KeyBlock[]
  readonly outside: readonly string[]
}

const BEGIN = /^-----BEGIN ([A-Z0-9 ]+)-----[ \t]*$/
const END = /^-----END ([A-Z0-9 ]+)-----[ \t]*$/
/** OpenSSL writes the curve in a block of its own before the key. */
const NO_KEY = new Set(['EC PARAMETERS', 'DSA PARAMETERS'])

/**
 * Takes a key text apart. Blocks that only name parameters are left out.
 *
 * @throws ForgeError `SIGNING_KEY_UNREADABLE` when a block is cut off
 */
export function splitKeyText(text: string): KeyParts {
  const blocks: KeyBlock[] = []
  const outside: string[] = []
  const lines = text.split('\n')[Symbol.iterator]()
  for (const line of lines) {
    const label = BEGIN.exec(line)?.[1]
    if (label !== undefined) blocks.push(readBlock(label, lines))
    else if (isContent(line)) outside.push(line.trim())
  }

  return { blocks: blocks.filter((block) => !NO_KEY.has(block.label)), outside }
}

function isContent(line: string): boolean {
  return line.trim() !== '' && !line.trimStart().startsWith('#')
}

function readBlock(label: string, lines: Iterator<string>): KeyBlock {
  const body: string[] = []
  for (let next = lines.next(); next.done !== true; next = lines.next()) {
    const end = END.exec(next.value)?.[1]
    if (end === label) return { label, body }
    if (end !== undefined || BEGIN.test(next.value)) break
    body.push(next.value)
  }

  throw unreadableKey('a BEGIN line has no END line that belongs to it, the key is cut off; export it again')
}
