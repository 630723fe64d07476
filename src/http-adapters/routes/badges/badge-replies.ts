import type { Badge, Grant } from '../../../schema/records.ts'
import type { JsonSchema } from '../json-schema.ts'
import { listOf } from '../json-schema.ts'
import { jsonReply, jsonType } from '../reply.ts'
import { counted, countedHeaders } from '../reply-headers.ts'
import type { Reply } from '../route.ts'

/** 200 with the badges of a user, oldest grant first. */
export const badgeList: Reply<readonly Grant[]> = {
  status: 200,
  description: 'list of badges',
  body: { type: jsonType, schema: listOf('Badge') },
  headers: countedHeaders,
  write: (_exchange, grants) =>
    jsonReply(
      grants.map((grant) => badgeJson(grant.badge)),
      counted(grants.length),
    ),
}

/**
 * A badge in both spellings: the one that Gitea's API document promises, and the one that its server sends. Clients of
 * either kind work. Source: docs/behaviour.md, Badges
 */
export interface BadgeJson {
  readonly id: number
  readonly slug: string
  readonly description: string
  readonly image_url: string
  readonly ID: number
  readonly Slug: string
  readonly Description: string
  readonly ImageURL: string
}

/** The schema of a badge. */
export const badgeSchema: JsonSchema = {
  type: 'object',
  description: 'A badge, in the two spellings that clients use: `image_url` and `ImageURL` are equal.',
  required: [
    'id',
    'slug',
    'description',
    'image_url',
    'ID',
    'Slug',
    'Description',
    'ImageURL',
  ] satisfies (keyof BadgeJson)[],
  additionalProperties: false,
  properties: {
    id: { type: 'integer', format: 'int64', description: 'id of the definition' },
    slug: { type: 'string', description: 'unique name, compared exactly' },
    description: { type: 'string', description: 'what the badge is granted for' },
    image_url: { type: 'string', description: 'URL of the image; empty if there is no image' },
    ID: { type: 'integer', format: 'int64', description: 'the same as `id`' },
    Slug: { type: 'string', description: 'the same as `slug`' },
    Description: { type: 'string', description: 'the same as `description`' },
    ImageURL: { type: 'string', description: 'the same as `image_url`' },
  } satisfies Record<keyof BadgeJson, JsonSchema>,
}

/** Converts a badge to JSON. */
function badgeJson({ id, slug, description, imageUrl }: Badge): BadgeJson {
  const number = Number(id)
  return {
    id: number,
    slug,
    description,
    image_url: imageUrl,
    ID: number,
    Slug: slug,
    Description: description,
    ImageURL: imageUrl,
  }
}
