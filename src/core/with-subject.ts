import type { EventDraft, EventSubject, RuleEvent } from '../schema/records.ts'

/** Adds the subject to an event of a rule. */
export function withSubject(subject: Partial<EventSubject>, event: RuleEvent): EventDraft {
  const { organizationId = null, repositoryId = null, issueId = null, userId = null } = subject
  return { organizationId, repositoryId, issueId, userId, ...event }
}

/** Adds the same subject to all events of a rule. */
export function withSubjects(subject: Partial<EventSubject>, events: readonly RuleEvent[]): readonly EventDraft[] {
  return events.map((event) => withSubject(subject, event))
}
