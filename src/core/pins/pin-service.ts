import { needObject } from '../../schema/arguments.ts'
import type { Id, IdInput } from '../../schema/ids.ts'
import { toId } from '../../schema/ids.ts'
import type { Decision, ForgeEvent, IssueRef, Pin, PinKind } from '../../schema/records.ts'
import type { MaybePromise } from '../../schema/sync-or-async.ts'
import { after } from '../../schema/sync-or-async.ts'
import type { PinBoardKey, PinRow } from '../../storage/contract/stores.ts'
import { asksPolicy, authorize } from '../access/gate.ts'
import type { Call } from '../call.ts'
import { actorIdOf, answerOf } from '../call.ts'
import type { Decide } from '../change.ts'
import { change } from '../change.ts'
import type { Environment } from '../environment.ts'
import type { Actor, Caller, CallOptions } from '../ports.ts'
import { withSubjects } from '../with-subject.ts'
import type { BoardPosition } from './pin-rules.ts'
import { movePin, pinIssue, unpinIssue } from './pin-rules.ts'

/**
 * Pins. Each repository has an ordered board of issues and an ordered board of pull requests.
 * Source: docs/behaviour.md, Pins.
 * Every method throws `REPOSITORY_NOT_FOUND` for a concealed repository and, except for `history`, for a retired one,
 * `UNAUTHENTICATED` or `FORBIDDEN` when the policy refuses, and `STORAGE_BUSY` or `STORAGE_UNAVAILABLE` when the storage
 * cannot answer.
 */
export interface PinService<A extends Actor> {
  /**
   * Pins an issue at the end of its board. Pinning a pinned issue changes nothing and records no event.
   * @throws ForgeError `PIN_LIMIT_REACHED`, `ISSUE_NOT_FOUND` when the issue was reported as deleted
   */
  pin(actor: Caller<A>, issue: IssueRef, options?: CallOptions): Promise<Pin>
  /** Removes an issue from its board and closes the gap. Unpinning an issue that is not pinned changes nothing. */
  unpin(actor: Caller<A>, issue: IssueRef, options?: CallOptions): Promise<void>
  /**
   * Moves a pinned issue to a 1-based position. A position beyond the end moves it to the end.
   * @throws ForgeError `ISSUE_NOT_PINNED`, `INVALID_INPUT` when the position is not an integer from 1 up
   */
  move(
    actor: Caller<A>,
    target: { readonly issue: IssueRef; readonly position: number },
    options?: CallOptions,
  ): Promise<Pin>
  /** Returns the pins of a board in order of position. */
  list(
    actor: Caller<A>,
    board: { readonly repositoryId: IdInput; readonly kind: PinKind },
    options?: CallOptions,
  ): Promise<readonly Pin[]>
  /** Returns, for each board, whether one more issue can be pinned. */
  allowed(actor: Caller<A>, repositoryId: IdInput, options?: CallOptions): Promise<{ readonly [K in PinKind]: boolean }>
  /**
   * Returns the pin and unpin events of one issue, oldest first. They include the events of every board that the issue
   * was on, and they remain after its repository is deleted.
   */
  history(
    actor: Caller<A>,
    issue: IssueRef,
    options?: CallOptions,
  ): Promise<readonly ForgeEvent<'issue.pinned' | 'issue.unpinned'>[]>
}

const ISSUE_EXAMPLE = "{ id: 7, repositoryId: 10, kind: 'issue' }"

/** The methods of the pin service. Each runs one call. */
export class PinServiceMethods<A extends Actor, Tx> {
  readonly #environment: Environment<A, Tx>

  constructor(environment: Environment<A, Tx>) {
    this.#environment = environment
  }

  pin(call: Call<A, Tx>, issue: IssueRef): MaybePromise<Pin> {
    needObject(issue, 'issue', ISSUE_EXAMPLE)
    const kind = toPinKind(issue.kind)
    const limit = this.#environment.maxPins[kind]
    return this.#change(call, issue, (board, id) => pinIssue(board, id, limit, kind), pinAt)
  }

  unpin(call: Call<A, Tx>, issue: IssueRef): MaybePromise<void> {
    return this.#change(call, issue, unpinIssue, () => undefined)
  }

  move(call: Call<A, Tx>, target: { readonly issue: IssueRef; readonly position: number }): MaybePromise<Pin> {
    needObject(target, 'target', `{ issue: ${ISSUE_EXAMPLE}, position: 1 }`)
    const { issue, position } = target // a copy: the caller may change the object before the change is decided
    return this.#change(call, issue, (board, id) => movePin(board, id, position), pinAt)
  }

  list(
    call: Call<A, Tx>,
    board: { readonly repositoryId: IdInput; readonly kind: PinKind },
  ): MaybePromise<readonly Pin[]> {
    needObject(board, 'board', "{ repositoryId: 10, kind: 'issue' }")
    const repositoryId = toId(board.repositoryId, 'board.repositoryId')
    const kind = toPinKind(board.kind)
    const authorized = authorize(this.#environment, call, { action: 'pins.read', repositoryId })

    const rows = after(authorized, () => this.#load(call, { repositoryId, kind }))
    return after(rows, toPins)
  }

  allowed(call: Call<A, Tx>, repository: IdInput): MaybePromise<{ readonly [K in PinKind]: boolean }> {
    const repositoryId = toId(repository, 'repositoryId')
    const authorized = authorize(this.#environment, call, { action: 'pins.read', repositoryId })

    const issue = after(authorized, () => this.#hasSpace(call, { repositoryId, kind: 'issue' }))
    return after(issue, (hasSpace) =>
      after(this.#hasSpace(call, { repositoryId, kind: 'pullRequest' }), (pullRequest) => ({
        issue: hasSpace,
        pullRequest,
      })),
    )
  }

  history(call: Call<A, Tx>, issue: IssueRef): MaybePromise<readonly ForgeEvent<'issue.pinned' | 'issue.unpinned'>[]> {
    needObject(issue, 'issue', ISSUE_EXAMPLE)
    const repositoryId = toId(issue.repositoryId, 'issue.repositoryId')
    const issueId = toId(issue.id, 'issue.id')
    const authorized = authorize(this.#environment, call, { action: 'pins.read', repositoryId })

    return after(authorized, () => this.#environment.storage.events.history(issueId, call.transaction))
  }

  #load(call: Call<A, Tx>, key: PinBoardKey): MaybePromise<readonly PinRow[]> {
    return answerOf(call, this.#environment.storage.pinBoards.load(key, call.transaction))
  }

  #hasSpace(call: Call<A, Tx>, key: PinBoardKey): MaybePromise<boolean> {
    return after(this.#load(call, key), (rows) => rows.length < this.#environment.maxPins[key.kind])
  }

  #change<Decided, Result>(
    call: Call<A, Tx>,
    issue: IssueRef,
    rule: (board: readonly Id[], issueId: Id) => Decision<readonly Id[], Decided>,
    answer: (rows: readonly PinRow[], decided: Decided) => Result,
  ): MaybePromise<Result> {
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

    return change(environment, call, {
      store: environment.storage.pinBoards,
      key: { repositoryId, kind: toPinKind(issue.kind) },
      fenced: asksPolicy(call),
      ask: () => after(authorize(environment, call, { action: 'pins.write', repositoryId }), () => decide),
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
  if (row === undefined) throw new RangeError(`a rule placed an issue at position ${position} of ${rows.length}`)
  return toPin(row, position - 1)
}

function toPins(rows: readonly PinRow[]): readonly Pin[] {
  return rows.map(toPin)
}

function toPin(row: PinRow, index: number): Pin {
  return { issueId: row.issueId, position: index + 1, pinnedAt: row.pinnedAt, pinnedBy: row.pinnedBy }
}
