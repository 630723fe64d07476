import type { Database } from 'better-sqlite3'
import type { Actor, Forge, Membership, Policy } from '../../src/index.ts'

/** How a deed ended: 'done', or the code of the refusal. */
export type Deed = (of: string, id: string) => Promise<string>

export function dawdle(): Promise<void>
export function linger(): Promise<void>
export function makeHostTables(handle: Database): void
export function slowPorts(handle: Database): {
  readonly policy: Policy<Actor, Database>
  readonly membership: Membership<Actor, Database>
}
export function deeds(
  handle: Database,
  forge: Forge<Actor, Database>,
  owner: Actor,
): { readonly join: Deed; readonly block: Deed; readonly delete: Deed; readonly pin: Deed }
