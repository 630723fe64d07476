import issue from '../../../schema/issue.json' with { type: 'json' }
import label from '../../../schema/label.json' with { type: 'json' }
import reaction from '../../../schema/reaction.json' with { type: 'json' }

/**
 * Returns the draft-04 JSON Schema of an issue document, which is an array of issues. It refers to the schemas of
 * labels and reactions as `label.json` and `reaction.json`. It accepts and rejects the same documents as Gitea's file
 * of the same name. Each call returns a new object.
 */
export function issueJsonSchema(): object {
  return structuredClone(issue)
}

/**
 * Returns the draft-04 JSON Schema of a label. The schema of issues refers to it as `label.json`. Each call returns a
 * new object.
 */
export function labelJsonSchema(): object {
  return structuredClone(label)
}

/**
 * Returns the draft-04 JSON Schema of a reaction. The schema of issues refers to it as `reaction.json`. Each call
 * returns a new object.
 */
export function reactionJsonSchema(): object {
  return structuredClone(reaction)
}
