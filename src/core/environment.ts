import type { PinKind } from '../schema/records.ts'
import type { ForgeStorage } from '../storage/contract/storage.ts'
import type { BeforeCommit } from '../storage/contract/stores.ts'
import type { IssueTracker } from './exchange/issue-tracker.ts'
import type { Actor, Logger, Membership, Policy, SigningKeySource } from './ports.ts'
import type { KeyExpiry } from './signing-keys/key-expiry.ts'

/**
 * What the services of one forge depend on: the storage, the host's ports and the settings, with all defaults applied.
 */
export interface Environment<A extends Actor, Tx> {
  readonly storage: ForgeStorage<Tx>
  readonly policy: Policy<A, Tx>
  readonly membership: Membership<A, Tx>
  /** Undefined: the host has no issues to exchange. */
  readonly issues: IssueTracker<A, Tx> | undefined
  readonly signingKey: SigningKeySource | undefined
  readonly keyExpiry: KeyExpiry
  readonly maxPins: { readonly [K in PinKind]: number }
  readonly maxNoteLength: number
  readonly beforeCommit: BeforeCommit<Tx> | undefined
  /** Never throws. */
  readonly logger: Logger
  /** Returns a text that was never returned before. */
  newId(): string
  now(): Date
}
