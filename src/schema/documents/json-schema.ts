import { z } from 'zod'
import { annotations, issueListDefinition, labelDefinition, reactionDefinition } from './definitions.ts'

/** A JSON Schema of draft 4, as a JSON value. */
type JsonSchema = Readonly<Record<string, unknown>>

/** Keywords of Gitea's files that draft 4 ignores. They are kept for tools that identify the files by them. */
const NAMES = {
  'issue.json': { $id: 'http://example.com/issue.json', $$target: 'issue.json' },
  'label.json': { $id: 'label.json', $$target: 'label.json' },
  'reaction.json': { $id: 'http://example.com/reaction.json', $$target: 'reaction.json' },
} as const

/**
 * Returns the draft-04 JSON Schema of an issue document, which is an array of issues. It refers to the schemas of
 * labels and reactions as `label.json` and `reaction.json`. It accepts and rejects the same documents as Gitea's file
 * of the same name. Each call returns a new object.
 */
export function issueJsonSchema(): object {
  return jsonSchema('issue.json')
}

/**
 * Returns the draft-04 JSON Schema of a label. The schema of issues refers to it as `label.json`. Each call returns a
 * new object.
 */
export function labelJsonSchema(): object {
  return jsonSchema('label.json')
}

/**
 * Returns the draft-04 JSON Schema of a reaction. The schema of issues refers to it as `reaction.json`. Each call
 * returns a new object.
 */
export function reactionJsonSchema(): object {
  return jsonSchema('reaction.json')
}

function jsonSchema(file: keyof typeof NAMES): JsonSchema {
  const { schemas } = z.toJSONSchema(filedDefinitions(), {
    target: 'draft-4',
    metadata: annotations,
    uri: (id) => id,
    override: ({ jsonSchema: schema }) => {
      if (schema.enum !== undefined) delete schema.type // Gitea's file has only the enum, which implies the type
    },
  })
  const { $schema, title, description, ...rest } = { ...schemas[file], ...NAMES[file] }
  return { $schema, ...NAMES[file], title, description, ...rest }
}

/** The definitions that are separate files. Other definitions refer to the file instead of repeating it. */
function filedDefinitions(): z.core.$ZodRegistry<{ readonly id: string }> {
  const files = z.registry<{ readonly id: string }>()
  files.add(issueListDefinition, { id: 'issue.json' })
  files.add(labelDefinition, { id: 'label.json' })
  files.add(reactionDefinition, { id: 'reaction.json' })
  return files
}
