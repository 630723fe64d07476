import type { Badge } from '../../../schema/records.ts'

/**
 * A badge in both spellings: what Gitea's API document promises, and what its server really sends, so that clients of
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

/** Makes the JSON of a badge. */
export function badgeJson({ id, slug, description, imageUrl }: Badge): BadgeJson {
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
