import type { Id } from '../index.ts'
import { foldName } from './fold-name.ts'

/** The ids that the names of a fixture were given. */
export class FixtureIds {
  readonly #ids: ReadonlyMap<string, Id>

  constructor(accounts: readonly { readonly name: string; readonly id: Id }[]) {
    this.#ids = new Map(accounts.map((account) => [foldName(account.name), account.id]))
  }

  /** The id of a name. */
  of(name: string): Id {
    const id = this.#ids.get(foldName(name))
    if (id === undefined) throw new TypeError(`"${name}" is not a name of this fixture; check it with parseFixture`)
    return id
  }

  /** The ids of names, each once. */
  all(names: readonly string[] | undefined): readonly Id[] {
    return [...new Set((names ?? []).map((name) => this.of(name)))]
  }
}
