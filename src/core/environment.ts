import type { PinKind } from '../schema/records.ts'
import type { ForgeStorage } from '../storage/contract/storage.ts'
import type { BeforeCommit } from '../storage/contract/stores.ts'
import type { Actor, Logger, Membership, Policy, SigningKeySource } from './ports.ts'

/** What the operations of one forge stand on: the host's ports, with every default filled in. */
export interface Environment<A extends Actor, Tx> {
  readonly storage: ForgeStorage<Tx>
  readonly policy: Policy<A, Tx>
  readonly membership: Membership<A, Tx>
  readonly signingKey: SigningKeySource | undefined
  readonly maxPins: { readonly [K in PinKind]: number }
  readonly maxNoteLength: number
  readonly beforeCommit: BeforeCommit<Tx> | undefined
  /** Throws nothing. */
  readonly logger: Logger
  /** A text that was never given out before. */
  newId(): string
  now(): Date
}
