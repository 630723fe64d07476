import { Refusal } from './answer.ts'
import type { Turn } from './forge-model.ts'
import type { HostedIssues } from './model-state.ts'
import type { StepOf } from './step.ts'
import { TAKEN_NUMBER } from './world.ts'

type Import = StepOf<'import'>
type Indexed = Import['records'][number] & { readonly index: number }

/** Imports batch by batch: what a batch cannot write ends the import, and what earlier batches wrote stays. */
export function importRecords(turn: Turn, step: Import): unknown {
  turn.check('REPOSITORY_NOT_FOUND')
  const totals = new Totals()
  for (const batch of batchesOf(step)) {
    const taken = totals.take(batch)
    refuseIf(totals.faults.slice(0, 1)) // the first such record ends the reading
    if (turn.state.gone.has(`repository ${step.repositoryId}`)) throw new Refusal('REPOSITORY_NOT_FOUND')

    const host = turn.state.hosted(step.repositoryId)
    const { after, data } = totals.plan(taken, host, step.onConflict)
    refuseIf(totals.faults)
    for (const conflict of totals.conflicts) throw new Refusal('IMPORT_CONFLICT', conflict)

    turn.state.host.set(step.repositoryId, after)
    const isEmpty = data.created + data.updated + data.comments === 0
    if (!isEmpty) turn.report('issues.imported', data, { repositoryId: step.repositoryId })
  }
  return totals.report()
}

/** The same, on a copy: goes on after what would end an import, and asks no storage. */
export function inspectRecords(turn: Turn, step: Import): unknown {
  turn.check('REPOSITORY_NOT_FOUND')
  const totals = new Totals()
  let host = turn.state.hosted(step.repositoryId)
  for (const batch of batchesOf(step)) host = totals.plan(totals.take(batch), host, step.onConflict).after
  refuseIf(totals.faults)
  return { ...totals.report(), conflicts: { total: totals.conflicts.length, first: totals.conflicts } }
}

/** Each issue as `number title`, followed by its comments. */
export function exportRecords(turn: Turn, { repositoryId }: StepOf<'export'>): unknown {
  turn.check('REPOSITORY_NOT_FOUND')
  const { issues, comments } = turn.state.hosted(repositoryId)
  return [...issues]
    .sort(([one], [other]) => one - other)
    .flatMap(([number, title]) => [
      `${number} ${title}`,
      ...[...comments].filter((comment) => comment.startsWith(`${number} `)),
    ])
}

function batchesOf({ records, batch }: Import): readonly (readonly Indexed[])[] {
  const indexed = records.map((record, index) => ({ ...record, index }))
  return Array.from({ length: Math.ceil(records.length / batch) }, (_, at) =>
    indexed.slice(at * batch, (at + 1) * batch),
  )
}

function refuseIf(faults: readonly string[]): void {
  if (faults.length > 0) throw new Refusal('INVALID_DOCUMENT', faults)
}

/** What an import has met so far. */
class Totals {
  readonly faults: string[] = []
  readonly conflicts: object[] = []
  readonly #issues = { created: 0, updated: 0, unchanged: 0, skipped: 0 }
  readonly #comments = { created: 0, updated: 0, unchanged: 0, skipped: 0 }
  readonly #seen = new Set<number>()
  readonly #left = new Set<number>()

  /** The records of a batch that are valid by themselves. */
  take(batch: readonly Indexed[]): readonly Indexed[] {
    return batch.filter(({ index, number, comment }) => {
      if (number < 1) {
        this.faults.push(`/${index}/${comment === undefined ? 'number' : 'issue_number'} integer`)
        return false
      }
      if (comment !== undefined) return true
      const isDuplicate = this.#seen.has(number)
      if (isDuplicate) this.faults.push(`/${index}/number duplicate_number`)
      this.#seen.add(number)
      return !isDuplicate
    })
  }

  /** What the host has after the batch, and what the event of the batch says. */
  plan(batch: readonly Indexed[], host: HostedIssues, onConflict: Import['onConflict']) {
    const after = { issues: new Map(host.issues), comments: new Set(host.comments) }
    const data = { created: 0, updated: 0, comments: 0 }
    for (const { index, number, title, comment } of batch) {
      if (comment !== undefined) continue
      const there = after.issues.get(number)
      const pointer = `/${index}`
      if (number === TAKEN_NUMBER) {
        this.conflicts.push({ pointer, number, reason: 'taken' })
        this.#left.add(number)
      } else if (there === title) {
        this.#issues.unchanged += 1
      } else if (there === undefined || onConflict === 'update') {
        after.issues.set(number, title)
        this.#issues[there === undefined ? 'created' : 'updated'] += 1
        data[there === undefined ? 'created' : 'updated'] += 1
      } else {
        if (onConflict === 'skip') this.#issues.skipped += 1
        else this.conflicts.push({ pointer, number, reason: 'differs', property: 'title' })
        this.#left.add(number)
      }
    }
    for (const { index, number, comment } of batch) {
      if (comment === undefined) continue
      const text = `${number} ${comment}`
      if (this.#left.has(number)) this.#comments.skipped += 1
      else if (!after.issues.has(number)) this.faults.push(`/${index}/issue_number unknown_issue`)
      else if (after.comments.has(text)) this.#comments.unchanged += 1
      else {
        after.comments.add(text)
        this.#comments.created += 1
        data.comments += 1
      }
    }
    return { after, data }
  }

  report(): object {
    return {
      issues: this.#issues,
      comments: this.#comments,
      unknownUsers: { total: 0, first: [] },
      notCarried: [],
    }
  }
}
