import assert from 'node:assert/strict'
import type { ForgeEvent } from '../../src/schema/records.ts'

/** What the events alone say about the state: boards by `repository/issue`, in lists by name. */
export interface ReplayedState {
  /** By repository: the issues pinned there in order, for each board by the kind `kindOf` returns. */
  readonly boards: ReadonlyMap<string, readonly string[]>
  /** By organization: the users it blocks, oldest first. */
  readonly blocks: ReadonlyMap<string, readonly string[]>
  /** By user: the slugs held, oldest first. */
  readonly grants: ReadonlyMap<string, readonly string[]>
  readonly catalogue: readonly string[]
}

/**
 * Makes the state out of its events, and checks each event against what came before it.
 *
 * @param boardOf - the board an issue belongs to, as a name
 */
export function replay(events: readonly ForgeEvent[], boardOf: (issueId: string) => string): ReplayedState {
  const boards = new Lists()
  const blocks = new Lists()
  const grants = new Lists()
  const catalogue = new Lists()

  for (const event of events) {
    const issueId = String(event.issueId)
    const organizationId = String(event.organizationId)
    const userId = String(event.userId)
    switch (event.type) {
      case 'issue.pinned':
        assert.equal(boards.add(boardOf(issueId), issueId), event.data.position)
        break
      case 'issue.unpinned':
        assert.equal(boards.remove(boardOf(issueId), issueId), event.data.position)
        break
      case 'issue.moved':
        assert.equal(boards.remove(boardOf(issueId), issueId), event.data.from)
        boards.insert(boardOf(issueId), issueId, event.data.to)
        break
      case 'issue.deleted':
        assert.equal(boards.discard(boardOf(issueId), issueId), event.data.wasPinned)
        break
      case 'repository.deleted':
        assert.equal(
          boards.drop((name) => name.startsWith(`${event.repositoryId}/`)),
          event.data.pins,
        )
        break
      case 'user.blocked':
        blocks.add(organizationId, userId)
        break
      case 'user.unblocked':
        blocks.remove(organizationId, userId)
        break
      case 'organization.deleted':
        assert.equal(
          blocks.drop((name) => name === organizationId),
          event.data.blocks,
        )
        break
      case 'user.deleted':
        assert.equal(blocks.discardEverywhere(userId), event.data.blocks)
        assert.equal(
          grants.drop((name) => name === userId),
          event.data.grants,
        )
        break
      case 'badge.granted':
        grants.add(userId, event.data.slug)
        break
      case 'badge.revoked':
        grants.remove(userId, event.data.slug)
        break
      case 'badge.defined':
        catalogue.add('', event.data.slug)
        break
      case 'badge.removed':
        catalogue.remove('', event.data.slug)
        break
      case 'badge.updated':
        assert.ok(catalogue.of('').includes(event.data.slug))
        break
      case 'issues.imported':
        break // the issues are the host's
      default:
        event satisfies never
    }
  }

  return { boards: boards.filled(), blocks: blocks.filled(), grants: grants.filled(), catalogue: catalogue.of('') }
}

/** How many issues and comments imports created in a repository, as the events say. */
export function importedInto(
  repositoryId: string,
  events: readonly ForgeEvent[],
): { readonly issues: number; readonly comments: number } {
  const counts = { issues: 0, comments: 0 }
  for (const event of events) {
    if (event.type !== 'issues.imported' || event.repositoryId !== repositoryId) continue
    counts.issues += event.data.created
    counts.comments += event.data.comments
  }
  return counts
}

/** Lists by name, in which nothing stands twice. */
class Lists {
  readonly #lists = new Map<string, readonly string[]>()

  of(name: string): readonly string[] {
    return this.#lists.get(name) ?? []
  }

  /** Puts at the end; gives the 1-based place. */
  add(name: string, item: string): number {
    this.insert(name, item, this.of(name).length + 1)
    return this.of(name).length
  }

  insert(name: string, item: string, position: number): void {
    assert.ok(!this.of(name).includes(item), `${item} comes to ${name} once`)
    assert.ok(position >= 1 && position <= this.of(name).length + 1, 'positions have no gaps')
    this.#lists.set(name, this.of(name).toSpliced(position - 1, 0, item))
  }

  /** Takes out what is there; gives its 1-based place. */
  remove(name: string, item: string): number {
    const position = this.of(name).indexOf(item) + 1
    assert.ok(position >= 1, `${item} leaves ${name} after it came`)
    this.#lists.set(name, this.of(name).toSpliced(position - 1, 1))
    return position
  }

  /** Takes out what may be there; returns whether it was. */
  discard(name: string, item: string): boolean {
    const there = this.of(name).includes(item)
    if (there) this.remove(name, item)
    return there
  }

  discardEverywhere(item: string): number {
    return [...this.#lists.keys()].filter((name) => this.discard(name, item)).length
  }

  /** Drops whole lists; gives how many items went. */
  drop(matches: (name: string) => boolean): number {
    const names = [...this.#lists.keys()].filter(matches)
    const items = names.flatMap((name) => this.of(name))
    for (const name of names) this.#lists.delete(name)
    return items.length
  }

  filled(): ReadonlyMap<string, readonly string[]> {
    return new Map([...this.#lists].filter(([, items]) => items.length > 0))
  }
}
