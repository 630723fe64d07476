/** Where a command writes and how it is told to stop. */
export interface Terminal {
  /** A line of result. */
  out(line: string): void
  /** A line of message. */
  err(line: string): void
  /** Aborted when the command shall stop (Ctrl-C). */
  readonly stop: AbortSignal
}
