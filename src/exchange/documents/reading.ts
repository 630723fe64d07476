import { jsonPointer } from '../../schema/documents/check.ts'
import { recordChecks } from '../../schema/documents/record-schemas.ts'
import { invalidDocument } from '../../schema/invalid-document.ts'
import type { ExchangeRecord, NotCarried, SourcePosition } from '../../schema/issue-record.ts'
import { MAX_VIOLATIONS } from '../../schema/text.ts'
import type { Violation } from '../../schema/violation.ts'
import { ConversionState, EXPECTED, Findings } from '../forges/findings.ts'
import type { Made } from '../forges/foreign.ts'
import { isForeign } from '../forges/foreign.ts'
import type { Part } from '../forges/forge-format.ts'
import type { ReadOptions } from './read-options.ts'
import type { Repetitions } from './repetitions.ts'
import type { Faults, Finding, Path } from './source-record.ts'

const PROGRESS_MS = 100
const MAX_PEOPLE = 100
/** How many names of what is not carried are reported: a source may have a property with a new name every ten bytes. */
const MAX_NAMES = 1000

/** A part of a record, and what is wrong in it. */
export type FaultyPart = readonly [...part: Part, faults: Faults]
type Accepted = readonly ExchangeRecord[]

/** What one reading collects and reports: violations, what is not carried, and how far it is. */
export class Reading {
  readonly options: ReadOptions
  /** What the conversions of its records share. */
  readonly state: ConversionState
  readonly #findings: Findings
  readonly #notCarried = new Map<string, NotCarried & { count: number }>()
  /** What the conversion of the current record found. */
  #found: { readonly what: string; readonly path: Path; readonly count: number }[] = []
  #records = 0
  #bytes = 0
  #reportedAt = performance.now()

  constructor(options: ReadOptions) {
    this.options = options
    this.state = new ConversionState(options)
    this.#findings = new Findings(this.state, (what, path, count) => this.#found.push({ what, path, count }))
  }

  /** Counts bytes that were read. */
  onRead(bytes: number): void {
    this.#bytes += bytes
    if (performance.now() - this.#reportedAt >= PROGRESS_MS) this.#report()
  }

  /**
   * Converts a part of a record, checks what it became, and reports what was found. Returns nothing if something is not valid.
   * @param position - of the part @param repetitions - of a list in which an issue may occur several times
   * @throws ForgeError `INVALID_DOCUMENT` unless `onInvalid` is a function
   */
  accept([, part, convert, faults]: FaultyPart, position: SourcePosition, repetitions?: Repetitions): Accepted {
    // What is no object is an issue that is not valid.
    const made = isForeign(part) ? convert(part, this.#findings) : [{ kind: 'issue', issue: part } as const]
    const found = this.#found
    if (found.length > 0) this.#found = []
    this.#records += 1
    const isValid = faults.length === 0 && areRecords(made)
    const repetition = isValid ? repetitions?.take(made) : undefined
    if (repetition === 'repeated') {
      this.add('repeated', position)
      return []
    }
    if (isValid && repetition === undefined) {
      for (const { what, path, count } of found) this.add(this.#nameOf(what), position, path, count)
      return made
    }
    const findings = repetition
      ? [repetition]
      : [...faults, ...made.flatMap((each) => [...recordChecks[each.kind].findings(contentOf(each), [])])]
    const violationOf = ({ path, code, message }: Finding): Violation => ({ ...inside(position, path), code, message })
    const { onInvalid } = this.options
    if (typeof onInvalid !== 'function') {
      throw invalidDocument(findings.slice(0, MAX_VIOLATIONS).map(violationOf), findings.length)
    }
    for (const finding of findings) onInvalid(violationOf(finding))
    return []
  }

  end(): void {
    const { nameless, displayed } = this.state
    const shown = [...nameless].filter((name) => displayed.has(name)).slice(0, MAX_PEOPLE)
    const people = shown.map((name) => ({ name, displayed: displayed.get(name) ?? name }))
    const known = this.#notCarried.get('user_name')
    if (known !== undefined && people.length > 0) this.#notCarried.set('user_name', { ...known, people })
    for (const [what, expected] of [...this.#notCarried]) {
      if (!what.startsWith(EXPECTED)) continue
      this.#notCarried.delete(what)
      if (expected.count > 0) this.add(what.slice(EXPECTED.length), expected, [], expected.count)
    }
    this.options.onNotCarried?.([...this.#notCarried.values()])
    this.#report()
  }

  /** Counts what is not carried. Its first position is reported. */
  add(what: string, position: SourcePosition, path: Path = [], count = 1): void {
    const known = this.#notCarried.get(what)
    if (known !== undefined) {
      known.count += count
      return
    }
    const { pointer, file } = inside(position, path)
    this.#notCarried.set(what, { what, count, pointer, ...(file !== undefined && { file }) })
  }

  #nameOf(what: string): string {
    const isFull = this.#notCarried.size >= MAX_NAMES && !this.#notCarried.has(what)
    return isFull && !what.startsWith(EXPECTED) ? 'others' : what
  }

  #report(): void {
    this.#reportedAt = performance.now()
    this.options.onProgress?.({ records: this.#records, bytes: this.#bytes })
  }
}

/** The position of a record, with a pointer to something in it. */
export function inside(position: SourcePosition, path: Path): SourcePosition {
  return { ...position, pointer: `${position.pointer}${jsonPointer(path)}` }
}

/** Returns whether everything that a record became conforms to its schema. */
function areRecords(made: readonly Made[]): made is readonly ExchangeRecord[] {
  return made.every((each) => recordChecks[each.kind].fits(contentOf(each)))
}

function contentOf(made: Made): unknown {
  return Reflect.get(made, made.kind)
}
