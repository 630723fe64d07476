import type { Database } from 'better-sqlite3'
import type { Actor, Forge, Membership, Policy } from '../../src/index.ts'

/** How a action ended: 'done', or the code of the refusal. */
export type Action = (of: string, id: string) => Promise<string>

export function dawdle(): Promise<void>
export function linger(): Promise<void>
export function makeHostTables(handle: Database): void
export function slowPorts(handle: Database): {
  readonly policy: Policy<Actor, Database>
  readonly membership: Membership<Actor, Database>
}
export function actions(
  handle: Database,
  forge: Forge<Actor, Database>,
  owner: Actor,
): { readonly join: Action; readonly block: Action; readonly delete: Action; readonly pin: Action }
