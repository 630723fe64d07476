import { z } from 'zod'
import { isDateTime } from '../date-time.ts'
import type { IssueRecord, LabelRecord, ReactionRecord } from '../issue-record.ts'

/** The title and description of a definition in the published JSON Schema. */
export interface Annotation {
  readonly title?: string | undefined
  readonly description?: string | undefined
}

/** A zod definition whose input and output types are the same. */
export type Definition<T> = z.ZodType<T, T>

/** A zod definition of an object with these properties and no others. */
export type RecordDefinition<T> = Definition<T> & { readonly shape: Readonly<Record<string, z.ZodType>> }

type ListName = 'labels' | 'reactions' | 'assignees'

/** An issue whose lists may have any value. */
export type IssueFrame = Omit<IssueRecord, ListName> & { [Name in ListName]?: unknown }

/**
 * The annotations of these definitions. They have a separate registry because zod's global one is shared with the host.
 */
export const annotations: z.core.$ZodRegistry<Annotation> = z.registry<Annotation>()

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
  name: text().register(annotations, { description: 'Name, unique in the repository.' }),
  color: text().register(annotations, { description: 'Color code.' }).exactOptional(),
  description: text().register(annotations, { description: 'What the label is for.' }).exactOptional(),
}).register(annotations, { title: 'Label', description: 'A label of an issue.' })

/** Defines an element of `reactions`. */
export const reactionDefinition: RecordDefinition<ReactionRecord> = record('a reaction', {
  user_id: finiteNumber().register(annotations, { description: 'Id of the user who reacted.' }),
  user_name: text().register(annotations, { description: 'Name of the user who reacted.' }).exactOptional(),
  content: text().register(annotations, { description: 'Name of the reaction.' }),
}).register(annotations, { title: 'Reaction', description: 'A reaction of a user to an issue.' })

const issueShape = {
  number: finiteNumber().register(annotations, { description: 'Number of the issue, unique in the repository.' }),
  poster_id: finiteNumber().register(annotations, { description: 'Id of the author.' }),
  poster_name: text().register(annotations, { description: 'Name of the author.' }),
  poster_email: text().register(annotations, { description: 'Email address of the author.' }).exactOptional(),
  title: text().register(annotations, { description: 'Title.' }),
  content: text().register(annotations, { description: 'Text of the issue.' }),
  ref: text().register(annotations, { description: 'Target branch.' }).exactOptional(),
  milestone: text().register(annotations, { description: 'Name of the milestone.' }).exactOptional(),
  state: z
    .enum(['closed', 'open'], { error: 'expected "closed" or "open"' })
    .register(annotations, { description: 'Closed: no further activity is expected.' }),
  is_locked: z
    .boolean({ error: 'expected true or false' })
    .register(annotations, { description: 'Whether only privileged users may change the issue.' }),
  created: dateTime(A_DATE_TIME).register(annotations, { description: 'When the issue was created.' }),
  updated: dateTime(A_DATE_TIME).register(annotations, { description: 'When the issue was last changed.' }),
  closed: dateTime(`${A_DATE_TIME}, or null`)
    .nullable()
    .register(annotations, { description: 'When the issue was last closed; a reopened issue may keep it.' })
    .exactOptional(),
}

/** Defines a complete issue, for the published JSON Schema. */
const issueDefinition: Definition<IssueRecord> = record('an issue', {
  ...issueShape,
  labels: z.array(labelDefinition).register(annotations, { description: 'Labels of the issue.' }).exactOptional(),
  reactions: z
    .array(reactionDefinition)
    .register(annotations, { description: 'Reactions to the issue.' })
    .exactOptional(),
  assignees: z
    .array(assigneeDefinition)
    .register(annotations, { description: 'Names of the users the issue is assigned to.' })
    .exactOptional(),
})

/**
 * Defines an issue without its lists, which is checked first. The elements of the lists are checked one by one
 * afterwards, so that a document with a million faults does not produce a million findings at once.
 */
export const issueFrameDefinition: RecordDefinition<IssueFrame> = record('an issue', {
  ...issueShape,
  labels: z.unknown().exactOptional(),
  reactions: z.unknown().exactOptional(),
  assignees: z.unknown().exactOptional(),
})

/** Defines an issue document, for the published JSON Schema. */
export const issueListDefinition: z.ZodType = z.array(issueDefinition).register(annotations, {
  title: 'Issue document',
  description: 'The issues of one repository of a code forge.',
})
