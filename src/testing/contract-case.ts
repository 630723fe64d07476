/** One fact of a contract: what every storage, or every mounting, must do. */
export interface ContractCase {
  /** A fact, in the present tense; no two cases have the same. */
  readonly name: string
  /** Rejects when it is not so. It stands alone: cases may run in any order. */
  run(): Promise<void>
}
