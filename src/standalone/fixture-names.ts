import type { Violation } from '../index.ts'
import type { FixtureLimits } from './fixture.ts'
import { FixtureNode } from './fixture-node.ts'
import { foldName } from './fold-name.ts'

/**
 * Checks what the fields of a fixture say of each other: names that point nowhere, duplicates (case-insensitively), and
 * blocks and pins that the forge's rules would refuse. Passes over what is not of the right type.
 */
export function checkFixtureNames(value: unknown, limits: FixtureLimits): readonly Violation[] {
  const check = new NamesCheck(new FixtureNode(value))
  return check.run(limits)
}

class NamesCheck {
  readonly #root: FixtureNode
  readonly #violations: Violation[] = []
  readonly #users: ReadonlySet<string>
  readonly #organizations: ReadonlySet<string>

  constructor(root: FixtureNode) {
    this.#root = root
    this.#users = foldedTexts(root.items('users').map((user) => user.field('username')))
    this.#organizations = foldedTexts(root.items('organizations').map((organization) => organization.field('name')))
  }

  run(limits: FixtureLimits): readonly Violation[] {
    this.#accounts()
    for (const organization of this.#root.items('organizations')) this.#organization(organization)
    this.#repositories(limits)
    this.#badges()
    return this.#violations
  }

  #accounts(): void {
    const users = this.#root.items('users')
    const names = users.map((user) => user.field('username'))
    this.#unique([...names, ...this.#root.items('organizations').map((organization) => organization.field('name'))])
    this.#uniqueTokens(users.flatMap((user) => user.items('tokens')))
  }

  #organization(organization: FixtureNode): void {
    const members = [...organization.items('owners'), ...organization.items('members')]
    const blocked = organization.items('blocks').map((block) => block.field('user'))
    for (const name of [...members, ...blocked]) this.#knownUser(name)
    this.#unique(blocked)

    const memberNames = foldedTexts(members)
    for (const name of blocked) {
      if (memberNames.has(folded(name)))
        this.#refuse(name, 'rule', `${quoted(name)} is a member and cannot be blocked: remove one of the two`)
    }
  }

  #repositories(limits: FixtureLimits): void {
    const repositories = this.#root.items('repositories')
    this.#unique(
      repositories.map((repository) => repository.field('name')),
      repositories.map((repository) => folded(repository.field('owner'))),
    )
    for (const repository of repositories) {
      this.#knownOwner(repository.field('owner'))
      for (const role of ['admins', 'writers', 'readers']) repository.items(role).forEach(this.#knownUser, this)
      this.#issues(repository)
      this.#pins(repository, limits)
    }
  }

  #issues(repository: FixtureNode): void {
    const issues = repository.items('issues')
    const labels = repository.items('labels').map((label) => label.field('name'))
    this.#unique(issues.map((issue) => issue.field('index')))
    this.#unique(labels)

    const known = foldedTexts(labels)
    for (const issue of issues) {
      this.#knownUser(issue.field('poster'))
      issue.items('assignees').forEach(this.#knownUser, this)
      for (const label of issue.items('labels')) this.#known(label, known, "one of the repository's labels")
    }
  }

  #pins(repository: FixtureNode, limits: FixtureLimits): void {
    const pins = repository.items('pins')
    const issues = repository.items('issues')
    this.#unique(pins)
    this.#pinKind(pins, issues, false, limits.maxPins?.issue ?? 3)
    this.#pinKind(pins, issues, true, limits.maxPins?.pullRequest ?? 3)

    const indexes = new Set(issues.map((issue) => issue.field('index').number))
    for (const pin of pins) {
      if (pin.number === undefined || indexes.has(pin.number)) continue
      this.#refuse(
        pin,
        'unknown_name',
        `no issue of this repository has the index ${pin.number}: add it or correct the number`,
      )
    }
  }

  #pinKind(pins: readonly FixtureNode[], issues: readonly FixtureNode[], pull: boolean, limit: number): void {
    const ofKind = issues.filter((issue) => issue.field('pull').isTrue === pull)
    const indexes = new Set(ofKind.map((issue) => issue.field('index').number))
    const tooMany = pins.filter((pin) => pin.number !== undefined && indexes.has(pin.number)).slice(limit)
    const kind = pull ? 'pull requests' : 'issues'
    for (const pin of tooMany)
      this.#refuse(pin, 'rule', `at most ${limit} ${kind} can be pinned: remove some, or raise the limit`)
  }

  #badges(): void {
    const badges = this.#root.items('badges')
    this.#unique(badges.map((badge) => badge.field('slug')))
    for (const badge of badges) badge.items('holders').forEach(this.#knownUser, this)
  }

  #knownUser(name: FixtureNode): void {
    this.#known(name, this.#users, 'one of the users')
  }

  #knownOwner(name: FixtureNode): void {
    this.#known(name, new Set([...this.#users, ...this.#organizations]), 'one of the users or organizations')
  }

  #known(name: FixtureNode, names: ReadonlySet<string>, what: string): void {
    if (name.text === undefined || names.has(folded(name))) return
    this.#refuse(name, 'unknown_name', `${quoted(name)} is not ${what}: add it there or correct the name`)
  }

  /** `scopes`: values are compared only within the same scope. */
  #unique(nodes: readonly FixtureNode[], scopes: readonly string[] = []): void {
    const seen = new Set<string>()
    nodes.forEach((node, at) => {
      if (node.text === undefined && node.number === undefined) return
      const key = `${scopes[at] ?? ''}/${folded(node)}`
      if (seen.has(key)) this.#refuse(node, 'duplicate', `${quoted(node)} is there twice: remove or rename one`)
      seen.add(key)
    })
  }

  #uniqueTokens(tokens: readonly FixtureNode[]): void {
    const seen = new Set<string>()
    for (const token of tokens) {
      if (token.text === undefined) continue
      if (seen.has(token.text)) this.#refuse(token, 'duplicate', 'this token is there twice: every token has one user')
      seen.add(token.text)
    }
  }

  #refuse(node: FixtureNode, code: string, message: string): void {
    this.#violations.push({ pointer: node.pointer, code, message })
  }
}

function folded(node: FixtureNode): string {
  return foldName(node.text ?? String(node.number ?? ''))
}

function foldedTexts(nodes: readonly FixtureNode[]): ReadonlySet<string> {
  return new Set(nodes.filter((node) => node.text !== undefined).map(folded))
}

function quoted(node: FixtureNode): string {
  return node.text === undefined ? String(node.number) : JSON.stringify(node.text)
}
