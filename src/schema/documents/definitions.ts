import { z } from 'zod'
import { isDateTime } from '../date-time.ts'
import type { CommentRecord, IssueRecord, LabelRecord, MilestoneRecord, ReactionRecord } from '../issue-record.ts'

/** A zod definition whose input and output types are the same. */
export type Definition<T> = z.ZodType<T, T>

/** A zod definition of an object with these properties and no others. */
export type RecordDefinition<T> = Definition<T> & { readonly shape: Readonly<Record<string, z.ZodType>> }

type ListName = 'labels' | 'reactions' | 'assignees'

/** An issue whose lists may have any value. */
export type IssueFrame = Omit<IssueRecord, ListName> & { [Name in ListName]?: unknown }

const A_DATE_TIME = 'expected an RFC 3339 date-time such as 2024-02-29T08:30:00Z'

const text = () => z.string({ error: 'expected a string' })
const finiteNumber = () => z.number({ error: 'expected a finite number' })
const dateTime = (error: string) => z.stringFormat('date-time', isDateTime, { error })

/** Defines an object with these properties and no others. */
function record<T extends z.ZodRawShape>(noun: string, shape: T): z.ZodObject<T, z.core.$strict> {
  const names = Object.keys(shape).join(', ')
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys' ? `unknown property, expected only ${names}` : `expected ${noun} object`,
  })
}

/** Defines an element of `assignees`. */
export const assigneeDefinition: Definition<string> = text()

/** Defines an element of `labels`. */
export const labelDefinition: RecordDefinition<LabelRecord> = record('a label', {
  name: text(),
  color: text().exactOptional(),
  description: text().exactOptional(),
})

/** Defines an element of `reactions`. */
export const reactionDefinition: RecordDefinition<ReactionRecord> = record('a reaction', {
  user_id: finiteNumber(),
  user_name: text().exactOptional(),
  content: text(),
})

/**
 * Defines an issue without its lists, which is checked first. The elements of the lists are checked one by one
 * afterwards, so that a document with a million faults does not produce a million findings at once.
 */
export const issueFrameDefinition: RecordDefinition<IssueFrame> = record('an issue', {
  number: finiteNumber(),
  poster_id: finiteNumber(),
  poster_name: text(),
  poster_email: text().exactOptional(),
  title: text(),
  content: text(),
  ref: text().exactOptional(),
  milestone: text().exactOptional(),
  state: z.enum(['closed', 'open'], { error: 'expected "closed" or "open"' }),
  is_locked: z.boolean({ error: 'expected true or false' }),
  created: dateTime(A_DATE_TIME),
  updated: dateTime(A_DATE_TIME),
  closed: dateTime(`${A_DATE_TIME}, or null`).nullable().exactOptional(),
  labels: z.unknown().exactOptional(),
  reactions: z.unknown().exactOptional(),
  assignees: z.unknown().exactOptional(),
})

/** A comment whose reactions may have any value. */
export type CommentFrame = Omit<CommentRecord, 'reactions'> & { reactions?: unknown }

/** Defines a comment without its reactions. No document has comments: it checks what other forges have. */
export const commentFrameDefinition: RecordDefinition<CommentFrame> = record('a comment', {
  issue_number: finiteNumber(),
  poster_id: finiteNumber(),
  poster_name: text(),
  poster_email: text().exactOptional(),
  created: dateTime(A_DATE_TIME),
  updated: dateTime(A_DATE_TIME),
  content: text(),
  reactions: z.unknown().exactOptional(),
})

/** Defines a milestone, as `commentFrameDefinition` does a comment. */
export const milestoneDefinition: RecordDefinition<MilestoneRecord> = record('a milestone', {
  title: text(),
  description: text().exactOptional(),
  deadline: dateTime(`${A_DATE_TIME}, or null`).nullable().exactOptional(),
  created: dateTime(A_DATE_TIME).exactOptional(),
  updated: dateTime(A_DATE_TIME).exactOptional(),
  closed: dateTime(`${A_DATE_TIME}, or null`).nullable().exactOptional(),
  state: z.enum(['closed', 'open'], { error: 'expected "closed" or "open"' }),
})
