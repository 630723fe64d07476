import type { ForgeErrorDetails } from '../../schema/errors.ts'
import type { NotCarried } from '../../schema/issue-record.ts'
import { MAX_VIOLATIONS } from '../../schema/text.ts'
import type { Violation } from '../../schema/violation.ts'

/** How many records were created, replaced, found the same, and left although they differ. */
export interface ImportCounts {
  readonly created: number
  readonly updated: number
  readonly unchanged: number
  readonly skipped: number
}

/** People whom a source names: how many they are, and the first hundred of them. */
export interface NamedPeople {
  readonly total: number
  /** Each with how often the source names them. */
  readonly first: readonly { readonly name: string; readonly count: number }[]
}

/** What an import did. */
export interface ImportReport {
  readonly issues: ImportCounts
  readonly comments: ImportCounts
  /** The people without an account here. */
  readonly unknownUsers: NamedPeople
  /** What the host has no place for. What the source lost when it was read is reported by `readExchange`. */
  readonly notCarried: readonly NotCarried[]
}

/** What an import would do. Conflicts are reported instead of thrown: how many, and the first hundred. */
export interface InspectReport extends ImportReport {
  readonly conflicts: {
    readonly total: number
    readonly first: readonly ForgeErrorDetails['IMPORT_CONFLICT'][]
  }
}

export type Conflict = ForgeErrorDetails['IMPORT_CONFLICT']

const NOTHING: ImportCounts = { created: 0, updated: 0, unchanged: 0, skipped: 0 }

const MAX_NAMED = 100

/** What an import has done so far. */
export class ImportTotals {
  readonly #issues = { ...NOTHING }
  readonly #comments = { ...NOTHING }
  readonly #unknown = new NameCounts()
  /** Comments, on a host that has none. */
  #lostComments: NotCarried | undefined
  readonly #conflicts = new First<Conflict>()
  /** The violations that an inspection found. */
  readonly violations: First<Violation> = new First<Violation>()

  add(plan: {
    readonly issues: ImportCounts
    readonly comments: ImportCounts
    readonly conflicts: readonly Conflict[]
    readonly unknownUsers: readonly string[]
  }): void {
    addCounts(this.#issues, plan.issues)
    addCounts(this.#comments, plan.comments)
    this.#conflicts.add(plan.conflicts)
    for (const name of plan.unknownUsers) this.#unknown.add(name)
  }

  loseComment(index: number): void {
    const { count = 0, pointer = `/${index}` } = this.#lostComments ?? {}
    this.#lostComments = { what: 'comments', count: count + 1, pointer }
  }

  report(): InspectReport {
    return {
      issues: { ...this.#issues },
      comments: { ...this.#comments },
      unknownUsers: this.#unknown.list(),
      notCarried: this.#lostComments === undefined ? [] : [this.#lostComments],
      conflicts: this.#conflicts.list(),
    }
  }
}

/** How often each of many names occurs. */
export class NameCounts {
  readonly #counts = new Map<string, number>()

  add(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
  }

  has(name: string): boolean {
    return this.#counts.has(name)
  }

  /** Returns how many names there are, and the first hundred. */
  list(): NamedPeople {
    const first = [...this.#counts].slice(0, MAX_NAMED)
    return { total: this.#counts.size, first: first.map(([name, count]) => ({ name, count })) }
  }
}

/** The first items of a list, and how many it has. */
class First<T> {
  readonly #first: T[] = []
  #total = 0

  add(items: readonly T[]): void {
    this.#first.push(...items.slice(0, MAX_VIOLATIONS - this.#first.length))
    this.#total += items.length
  }

  list(): { readonly total: number; readonly first: readonly T[] } {
    return { total: this.#total, first: [...this.#first] }
  }
}

function addCounts(totals: { -readonly [What in keyof ImportCounts]: number }, counts: ImportCounts): void {
  for (const name of ['created', 'updated', 'unchanged', 'skipped'] as const) totals[name] += counts[name]
}
