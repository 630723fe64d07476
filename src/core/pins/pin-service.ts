import { needObject } from '../../schema/arguments.ts'
import type { Decision } from '../../schema/decision.ts'
import type { ForgeEvent } from '../../schema/events.ts'
import type { Id, IdInput } from '../../schema/ids.ts'
import { toId } from '../../schema/ids.ts'
import type { IssueRef, Pin, PinKind } from '../../schema/records.ts'
import type { SyncOrAsync } from '../../schema/sync-or-async.ts'
import { wait } from '../../schema/sync-or-async.ts'
import type { PinBoardKey, PinRow } from '../../storage/contract/stores.ts'
import { asksPolicy, authorize } from '../access/gate.ts'
import type { Call } from '../call.ts'
import { actorIdOf } from '../call.ts'
import type { Decide } from '../change.ts'
import { change } from '../change.ts'
import type { Environment } from '../environment.ts'
import type { Actor } from '../ports.ts'
import { withSubjects } from '../subject.ts'
import type { BoardPosition } from './pin-rules.ts'
import { movePin, pinIssue, unpinIssue } from './pin-rules.ts'

const ISSUE_EXAMPLE = "{ id: 7, repositoryId: 10, kind: 'issue' }"

/** The methods of the pin service, as generators that run one call each. */
export class PinServiceMethods<A extends Actor, Tx> {
  readonly #environment: Environment<A, Tx>

  constructor(environment: Environment<A, Tx>) {
    this.#environment = environment
  }

  *pin(call: Call<A, Tx>, issue: IssueRef): SyncOrAsync<Pin> {
    needObject(issue, 'issue', ISSUE_EXAMPLE)
    const kind = toPinKind(issue.kind)
    const limit = this.#environment.maxPins[kind]
    return yield* this.#change(call, issue, (board, id) => pinIssue(board, id, limit, kind), pinAt)
  }

  *unpin(call: Call<A, Tx>, issue: IssueRef): SyncOrAsync<void> {
    return yield* this.#change(call, issue, unpinIssue, () => undefined)
  }

  *move(call: Call<A, Tx>, target: { readonly issue: IssueRef; readonly position: number }): SyncOrAsync<Pin> {
    needObject(target, 'target', `{ issue: ${ISSUE_EXAMPLE}, position: 1 }`)
    const { issue, position } = target // a copy: the caller may change the object before the change is decided
    return yield* this.#change(call, issue, (board, id) => movePin(board, id, position), pinAt)
  }

  *list(
    call: Call<A, Tx>,
    board: { readonly repositoryId: IdInput; readonly kind: PinKind },
  ): SyncOrAsync<readonly Pin[]> {
    needObject(board, 'board', "{ repositoryId: 10, kind: 'issue' }")
    const repositoryId = toId(board.repositoryId, 'board.repositoryId')
    const kind = toPinKind(board.kind)
    yield* authorize(this.#environment, call, { action: 'pins.read', repositoryId })

    const rows = yield* this.#load(call, { repositoryId, kind })
    return rows.map(toPin)
  }

  *allowed(call: Call<A, Tx>, repository: IdInput): SyncOrAsync<{ readonly [K in PinKind]: boolean }> {
    const repositoryId = toId(repository, 'repositoryId')
    yield* authorize(this.#environment, call, { action: 'pins.read', repositoryId })

    const issues = yield* this.#load(call, { repositoryId, kind: 'issue' })
    const pullRequests = yield* this.#load(call, { repositoryId, kind: 'pullRequest' })
    const { maxPins } = this.#environment
    return { issue: issues.length < maxPins.issue, pullRequest: pullRequests.length < maxPins.pullRequest }
  }

  *history(call: Call<A, Tx>, issue: IssueRef): SyncOrAsync<readonly ForgeEvent<'issue.pinned' | 'issue.unpinned'>[]> {
    needObject(issue, 'issue', ISSUE_EXAMPLE)
    const repositoryId = toId(issue.repositoryId, 'issue.repositoryId')
    const issueId = toId(issue.id, 'issue.id')
    yield* authorize(this.#environment, call, { action: 'pins.read', repositoryId })

    return yield* wait(this.#environment.storage.events.history(issueId, call.transaction))
  }

  *#load(call: Call<A, Tx>, key: PinBoardKey): SyncOrAsync<readonly PinRow[]> {
    return yield* wait(this.#environment.storage.pinBoards.load(key, call.transaction))
  }

  *#change<Decided, Result>(
    call: Call<A, Tx>,
    issue: IssueRef,
    rule: (board: readonly Id[], issueId: Id) => Decision<readonly Id[], Decided>,
    answer: (rows: readonly PinRow[], decided: Decided) => Result,
  ): SyncOrAsync<Result> {
    needObject(issue, 'issue', ISSUE_EXAMPLE)
    const environment = this.#environment
    const repositoryId = toId(issue.repositoryId, 'issue.repositoryId')
    const issueId = toId(issue.id, 'issue.id')
    const pinnedBy = actorIdOf(call.actor)

    const decide: Decide<readonly PinRow[], Result> = (rows, pinnedAt) => {
      const board = rows.map((row) => row.issueId)
      const decision = rule(board, issueId)
      const state = decision.state === board ? rows : arrange(rows, decision.state, pinnedAt, pinnedBy)
      return {
        state,
        events: withSubjects({ repositoryId, issueId }, decision.events),
        result: answer(state, decision.result),
      }
    }

    return yield* change(environment, call, {
      store: environment.storage.pinBoards,
      key: { repositoryId, kind: toPinKind(issue.kind) },
      fenced: asksPolicy(call),
      *ask() {
        yield* authorize(environment, call, { action: 'pins.write', repositoryId })
        return decide
      },
    })
  }
}

function toPinKind(kind: PinKind): PinKind {
  if (kind === 'issue' || kind === 'pullRequest') return kind
  throw new TypeError("the kind of a pin must be 'issue' or 'pullRequest'")
}

function arrange(
  rows: readonly PinRow[],
  board: readonly Id[],
  pinnedAt: Date,
  pinnedBy: Id | null,
): readonly PinRow[] {
  return board.map((issueId) => rows.find((row) => row.issueId === issueId) ?? { issueId, pinnedAt, pinnedBy })
}

function pinAt(rows: readonly PinRow[], { position }: BoardPosition): Pin {
  const row = rows[position - 1]
  if (row === undefined) throw new RangeError(`a rule put an issue at position ${position} of ${rows.length}`)
  return toPin(row, position - 1)
}

function toPin(row: PinRow, index: number): Pin {
  return { issueId: row.issueId, position: index + 1, pinnedAt: row.pinnedAt, pinnedBy: row.pinnedBy }
}
