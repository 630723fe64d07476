/** One requirement of a contract, which every storage or every mounted API must meet. */
export interface ContractCase {
  /** A statement in the present tense, unique among the cases. */
  readonly name: string
  /** Rejects if the requirement is not met. Cases are independent and may run in any order. */
  run(): Promise<void>
}
