import type { RuleEvent } from './events.ts'

/**
 * What a pure rule decides: the new state, what happened, and the caller's result.
 * A rule that changes nothing gives back the very state it got, and no events.
 */
export interface Decision<State, Result, Event = RuleEvent> {
  readonly state: State
  readonly events: readonly Event[]
  readonly result: Result
}
