import { jsonPointer } from '../../schema/documents/check.ts'
import { recordChecks } from '../../schema/documents/record-schemas.ts'
import type { Violation } from '../../schema/errors.ts'
import { invalidDocument } from '../../schema/invalid-document.ts'
import type { ExchangeRecord, NotCarried, SourcePosition } from '../../schema/issue-record.ts'
import { MAX_VIOLATIONS } from '../../schema/text.ts'
import type { Findings, Made } from '../forges/forge-format.ts'
import type { ByteObserver } from './byte-source.ts'
import type { ReadOptions } from './read-options.ts'
import type { Repetitions } from './repetitions.ts'
import type { Finding, Path } from './source-record.ts'

const PROGRESS_MS = 100
const MAX_PEOPLE = 100

/** What one reading collects and reports: violations, what is not carried, and how far it is. */
export class Reading implements ByteObserver, Findings {
  readonly options: ReadOptions
  readonly signal: AbortSignal | undefined
  readonly #notCarried = new Map<string, NotCarried & { count: number }>()
  /** What the conversion of the current record found. */
  #found: { readonly what: string; readonly path: Path; readonly count: number }[] = []
  /** The greatest number of the pull requests and issues that were left out. */
  greatestLeftOut = 0
  /** What users are called of whom the source has only the id. */
  readonly #nameless = new Set<string>()
  readonly #displayed = new Map<string, string>()
  #records = 0
  #bytes = 0
  #reportedAt = performance.now()

  constructor(options: ReadOptions) {
    this.options = options
    this.signal = options.signal
  }

  onRead(bytes: number): void {
    this.#bytes += bytes
    if (performance.now() - this.#reportedAt >= PROGRESS_MS) this.#report()
  }

  onBytes(bytes: number): void {
    this.options.onBytes?.(bytes)
  }

  notCarried(what: string, path: Path, count = 1): void {
    this.#found.push({ what, path, count })
  }

  leftOut(number: unknown): void {
    if (Number.isSafeInteger(number)) this.greatestLeftOut = Math.max(this.greatestLeftOut, Number(number))
  }

  nameless(name: string, path: Path): void {
    this.#nameless.add(name)
    this.notCarried('user_name', path)
  }

  displayed(name: string, displayed: unknown): void {
    if (typeof displayed === 'string') this.#displayed.set(name, displayed)
  }

  /** Reports a file that was not read. */
  leaveFile(what: string, file: string): void {
    this.#add(what, { pointer: '', file }, [], 1)
  }

  /**
   * Checks what a record became, and reports what was found. Returns undefined if something is not valid.
   * @param repetitions - of a list in which an issue may occur several times
   * @throws ForgeError `INVALID_DOCUMENT` unless `onInvalid` is a function
   */
  accept(
    made: readonly Made[],
    faults: readonly Finding[],
    position: SourcePosition,
    repetitions?: Repetitions,
  ): readonly ExchangeRecord[] | undefined {
    const found = this.#found
    if (found.length > 0) this.#found = []
    this.#records += 1
    const isValid = faults.length === 0 && areRecords(made)
    const repetition = isValid ? repetitions?.take(made) : undefined
    if (repetition === 'repeated') {
      this.#add('repeated', position, [], 1)
      return []
    }
    if (isValid && repetition === undefined) {
      for (const { what, path, count } of found) this.#add(what, position, path, count)
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
    return undefined
  }

  end(): void {
    const people = [...this.#nameless].flatMap((name) => {
      const displayed = this.#displayed.get(name)
      return displayed === undefined ? [] : [{ name, displayed }]
    })
    const known = this.#notCarried.get('user_name')
    if (known !== undefined && people.length > 0) {
      this.#notCarried.set('user_name', { ...known, people: people.slice(0, MAX_PEOPLE) })
    }
    this.options.onNotCarried?.([...this.#notCarried.values()])
    this.#report()
  }

  #add(what: string, position: SourcePosition, path: Path, count: number): void {
    const known = this.#notCarried.get(what)
    if (known !== undefined) {
      known.count += count
      return
    }
    const { pointer, file } = inside(position, path)
    this.#notCarried.set(what, { what, count, pointer, ...(file !== undefined && { file }) })
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
export function areRecords(made: readonly Made[]): made is readonly ExchangeRecord[] {
  return made.every((each) => recordChecks[each.kind].fits(contentOf(each)))
}

function contentOf(made: Made): unknown {
  return Reflect.get(made, made.kind)
}
