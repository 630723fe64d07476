import type { Badge, Block } from '../../src/schema/records.ts'

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

/** The issues of a host's repository: titles by number, and comments as `number text`. */
export interface HostedIssues {
  readonly issues: ReadonlyMap<number, string>
  readonly comments: ReadonlySet<string>
}

/** Everything the model knows. Boards are named `repository/kind`. */
export class ModelState {
  readonly boards: Map<string, ModelPin[]> = new Map()
  readonly blocks: Map<string, Block[]> = new Map()
  readonly grants: Map<string, ModelGrant[]> = new Map()
  readonly catalogue: Badge[] = []
  readonly members: Set<string> = new Set()
  /** By repository. */
  readonly host: Map<string, HostedIssues> = new Map()
  readonly gone: Set<string> = new Set()
  readonly events: ModelEvent[] = []
  badgesEver = 0

  /** The same state, on its own from here on, without the events so far. */
  copy(): ModelState {
    const copy = new ModelState()
    for (const [name, pins] of this.boards) copy.boards.set(name, [...pins])
    for (const [name, blocks] of this.blocks) copy.blocks.set(name, [...blocks])
    for (const [name, grants] of this.grants) copy.grants.set(name, [...grants])
    for (const [name, hosted] of this.host) copy.host.set(name, hosted)
    for (const thing of this.gone) copy.gone.add(thing)
    for (const member of this.members) copy.members.add(member)
    copy.catalogue.push(...this.catalogue)
    copy.badgesEver = this.badgesEver
    return copy
  }

  board(repositoryId: string, kind: string): ModelPin[] {
    return entryOf(this.boards, `${repositoryId}/${kind}`)
  }

  blocksOf(organizationId: string): Block[] {
    return entryOf(this.blocks, organizationId)
  }

  grantsOf(userId: string): ModelGrant[] {
    return entryOf(this.grants, userId)
  }

  hosted(repositoryId: string): HostedIssues {
    return this.host.get(repositoryId) ?? { issues: new Map(), comments: new Set() }
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
