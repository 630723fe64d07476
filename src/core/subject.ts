import type { EventDraft, EventSubject, RuleEvent } from '../schema/events.ts'

const NOBODY: EventSubject = { organizationId: null, repositoryId: null, issueId: null, userId: null }

/** Completes an event of a rule with what it is about. */
export function withSubject(subject: Partial<EventSubject>, event: RuleEvent): EventDraft {
  return { ...event, ...NOBODY, ...subject }
}

/** Completes the events of a rule with what they are about. */
export function withSubjects(subject: Partial<EventSubject>, events: readonly RuleEvent[]): readonly EventDraft[] {
  return events.map((event) => withSubject(subject, event))
}
