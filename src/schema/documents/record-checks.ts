import { z } from 'zod'
import type { Check } from './check.ts'
import { checkOf, checkOfEach } from './check.ts'
import { assigneeDefinition, issueFrameDefinition, labelDefinition, reactionDefinition } from './definitions.ts'
import type { IssueRecord, LabelRecord, ReactionRecord } from './issue-record.ts'

// `z.compile` makes a check several times as fast where the runtime allows code from strings, and changes nothing elsewhere.

/** Checks a label. */
export const labelCheck: Check<LabelRecord> = checkOf(z.compile(labelDefinition))

/** Checks a reaction. */
export const reactionCheck: Check<ReactionRecord> = checkOf(z.compile(reactionDefinition))

const frame = checkOf(z.compile(issueFrameDefinition))
const labels = checkOfEach(labelCheck, 'expected an array of labels')
const reactions = checkOfEach(reactionCheck, 'expected an array of reactions')
const assignees = checkOfEach(checkOf(z.compile(assigneeDefinition)), 'expected an array of user names')

/** Checks one issue: first its own properties, then the elements of its lists. */
export const issueCheck: Check<IssueRecord> = {
  fits: (value): value is IssueRecord =>
    frame.fits(value) &&
    (!('labels' in value) || labels.fits(value.labels)) &&
    (!('reactions' in value) || reactions.fits(value.reactions)) &&
    (!('assignees' in value) || assignees.fits(value.assignees)),
  *findings(value, path) {
    yield* frame.findings(value, path)
    if (typeof value !== 'object' || value === null) return

    if ('labels' in value) yield* labels.findings(value.labels, [...path, 'labels'])
    if ('reactions' in value) yield* reactions.findings(value.reactions, [...path, 'reactions'])
    if ('assignees' in value) yield* assignees.findings(value.assignees, [...path, 'assignees'])
  },
}

/** Checks an issue document. */
export const issueListCheck: Check<IssueRecord[]> = checkOfEach(issueCheck, 'expected an array of issues')
