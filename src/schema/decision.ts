import type { RuleEvent } from './events.ts'

/**
 * The decision of a pure rule: the new state, the events, and the result for the caller.
 * A rule that changes nothing returns the same state object that it was given, and no events.
 */
export interface Decision<State, Result, Event = RuleEvent> {
  readonly state: State
  readonly events: readonly Event[]
  readonly result: Result
}
