import type { EventDraft, EventSubject, RuleEvent } from '../schema/events.ts'

const NO_SUBJECT: EventSubject = { organizationId: null, repositoryId: null, issueId: null, userId: null }

/** Adds the subject to an event of a rule. */
export function withSubject(subject: Partial<EventSubject>, event: RuleEvent): EventDraft {
  return { ...event, ...NO_SUBJECT, ...subject }
}

/** Adds the same subject to all events of a rule. */
export function withSubjects(subject: Partial<EventSubject>, events: readonly RuleEvent[]): readonly EventDraft[] {
  return events.map((event) => withSubject(subject, event))
}
