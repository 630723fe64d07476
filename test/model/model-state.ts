import type { Badge, Block } from '../../src/index.ts'

/** A pin in the model. */
export interface ModelPin {
  readonly issueId: string
  readonly pinnedAt: Date
  readonly pinnedBy: string | null
}

/** A grant in the model; its badge by id. */
export interface ModelGrant {
  readonly badgeId: string
  readonly grantedAt: Date
  readonly grantedBy: string | null
}

/** An event in the model: its envelope without the id. */
export interface ModelEvent {
  readonly type: string
  readonly data: object
  readonly at: Date
  readonly actorId: string | null
  readonly organizationId: string | null
  readonly repositoryId: string | null
  readonly issueId: string | null
  readonly userId: string | null
}

/** Everything the model knows. Boards are named `repository/kind`. */
export class ModelState {
  readonly boards: Map<string, ModelPin[]> = new Map()
  readonly blocks: Map<string, Block[]> = new Map()
  readonly grants: Map<string, ModelGrant[]> = new Map()
  readonly catalogue: Badge[] = []
  readonly members: Set<string> = new Set()
  readonly gone: Set<string> = new Set()
  readonly events: ModelEvent[] = []
  badgesEver = 0

  board(repositoryId: string, kind: string): ModelPin[] {
    return entryOf(this.boards, `${repositoryId}/${kind}`)
  }

  /** The blocks by an organization or a user. */
  blocksBy({ organizationId, blockerId }: Pick<Block, 'organizationId' | 'blockerId'>): Block[] {
    return entryOf(this.blocks, blockerId === undefined ? `organization ${organizationId}` : `user ${blockerId}`)
  }

  grantsOf(userId: string): ModelGrant[] {
    return entryOf(this.grants, userId)
  }

  badge(slug: string): Badge | undefined {
    return this.catalogue.find((badge) => badge.slug === slug)
  }
}

function entryOf<T>(map: Map<string, T[]>, key: string): T[] {
  const found = map.get(key) ?? []
  map.set(key, found)
  return found
}
