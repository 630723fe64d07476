import { needObject } from '../../schema/arguments.ts'
import type { Id, IdInput } from '../../schema/ids.ts'
import { toId } from '../../schema/ids.ts'
import type { Decision, ForgeEvent, IssueRef, Pin, PinKind } from '../../schema/records.ts'
import type { SyncOrAsync } from '../../schema/sync-or-async.ts'
import { wait } from '../../schema/sync-or-async.ts'
import type { BoardIssue, PinBoardKey, PinRow } from '../../storage/contract/stores.ts'
import { ISSUE_EXAMPLE, toBoardIssue, toPinKind } from '../board-issue.ts'
import type { Call, MaybeAsync, Scope } from '../call.ts'
import { actorIdOf } from '../call.ts'
import { change } from '../change.ts'
import { method } from '../method.ts'
import type { Actor, Caller, CallOptions } from '../ports.ts'
import type { BoardPosition } from './pin-rules.ts'
import { movePin, pinIssue, unpinIssue } from './pin-rules.ts'

/**
 * Pins. Each repository has an ordered board of issues and an ordered board of pull requests.
 * Source: docs/behaviour.md, Pins.
 * Every method throws `REPOSITORY_NOT_FOUND` for a concealed repository and, except for `positions` and `history`, for a
 * retired one, `UNAUTHENTICATED` or `FORBIDDEN` when the policy refuses, and `STORAGE_BUSY` or `STORAGE_UNAVAILABLE` when the storage
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
  /**
   * Returns the 1-based positions of those of the issues that are pinned on the board of their repository, by the ids as
   * they were given: a number stays a number. It reads once, for a page that lists issues, and asks the policy once for
   * each repository. A retired repository has no pins.
   */
  positions<I extends IdInput>(
    actor: Caller<A>,
    issues: readonly (IssueRef & { readonly id: I })[],
    options?: CallOptions,
  ): Promise<ReadonlyMap<I, number>>
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

/** Creates the pin service of a scope. */
export function pinService(scope: Scope): MaybeAsync<PinService<Actor>> {
  const { storage, maxPins } = scope.environment

  return {
    pin: method(scope, toChange, (call, { issue }) => rearrange(call, issue, pinWithinLimit, pinAt)),
    unpin: method(scope, toChange, (call, { issue }) => rearrange(call, issue, unpinIssue, () => undefined)),
    move: method(scope, toMove, (call, { issue, position }) =>
      rearrange(call, issue, (board, issueId) => movePin(board, issueId, position), pinAt),
    ),
    list: method(scope, toBoard, function* list(_call, { board }) {
      return (yield* load(board)).map(toPin)
    }),
    positions: method(scope, toIssues, function* positions(_call, { issues, ids }) {
      const found = yield* wait(storage.pinBoards.positions(issues, scope.transaction))
      return new Map(
        ids.flatMap((id, index) => {
          const position = found[index]
          return position === undefined ? [] : [[id, position] as const]
        }),
      )
    }),
    allowed: method(scope, toRepository, function* allowed(_call, { repositoryId }) {
      const issues = yield* load({ repositoryId, kind: 'issue' })
      const pullRequests = yield* load({ repositoryId, kind: 'pullRequest' })
      return { issue: issues.length < maxPins.issue, pullRequest: pullRequests.length < maxPins.pullRequest }
    }),
    history: method(scope, toHistory, (_call, { issueId }) => wait(storage.events.history(issueId, scope.transaction))),
  }

  function load(key: PinBoardKey): SyncOrAsync<readonly PinRow[]> {
    return wait(storage.pinBoards.load(key, scope.transaction))
  }

  function pinWithinLimit(board: readonly Id[], issueId: Id, kind: PinKind): Decision<readonly Id[], BoardPosition> {
    return pinIssue(board, issueId, maxPins[kind], kind)
  }

  function* rearrange<Decided, Result>(
    call: Call,
    { issueId, repositoryId, kind }: BoardIssue,
    rule: (board: readonly Id[], issueId: Id, kind: PinKind) => Decision<readonly Id[], Decided>,
    answer: (rows: readonly PinRow[], decided: Decided) => Result,
  ): SyncOrAsync<Result> {
    const pinnedBy = actorIdOf(call.actor)
    const subject = { repositoryId, issueId }
    return yield* change(scope, call, storage.pinBoards, { repositoryId, kind }, subject, (rows, pinnedAt) => {
      const board = rows.map((row) => row.issueId)
      const { state: issues, events, result } = rule(board, issueId, kind)
      const state = issues === board ? rows : arrange(rows, issues, pinnedAt, pinnedBy)
      return { state, events, result: answer(state, result) }
    })
  }
}

const toRead = (repositoryId: Id) => ({ action: 'pins.read', repositoryId }) as const

function toChange(ref: IssueRef) {
  const issue = toBoardIssue(ref)
  return { access: { action: 'pins.write', repositoryId: issue.repositoryId }, issue } as const
}

function toMove(target: { readonly issue: IssueRef; readonly position: number }) {
  needObject(target, 'target', `{ issue: ${ISSUE_EXAMPLE}, position: 1 }`)
  return { ...toChange(target.issue), position: target.position }
}

function toBoard(board: { readonly repositoryId: IdInput; readonly kind: PinKind }) {
  needObject(board, 'board', "{ repositoryId: 10, kind: 'issue' }")
  const repositoryId = toId(board.repositoryId, 'board.repositoryId')
  return { access: toRead(repositoryId), board: { repositoryId, kind: toPinKind(board.kind) } }
}

function toIssues(refs: readonly IssueRef[]) {
  if (!Array.isArray(refs)) throw new TypeError(`issues must be an array such as [${ISSUE_EXAMPLE}]`)
  const issues = refs.map(toBoardIssue)
  const repositoryIds = new Set(issues.map(({ repositoryId }) => repositoryId))
  const ids: readonly IdInput[] = refs.map(({ id }) => id)
  return { access: [...repositoryIds].map(toRead), issues, ids }
}

function toRepository(repository: IdInput) {
  const repositoryId = toId(repository, 'repositoryId')
  return { access: toRead(repositoryId), repositoryId }
}

function toHistory(ref: IssueRef) {
  const { issueId, repositoryId } = toBoardIssue(ref)
  return { access: toRead(repositoryId), issueId }
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

function toPin(row: PinRow, index: number): Pin {
  return { issueId: row.issueId, position: index + 1, pinnedAt: row.pinnedAt, pinnedBy: row.pinnedBy }
}
