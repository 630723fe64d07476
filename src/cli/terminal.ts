/** The environment variables that commands read. */
export interface Environment {
  /** The database, where `--db` is not given; empty = not set. */
  readonly FORGELET_DB?: string | undefined
}

/** Where a command writes, how it is told to stop, and its environment. */
export interface Terminal {
  /** A line of result. */
  out(line: string): void
  /** A line of message. */
  err(line: string): void
  /** Aborted when the command shall stop (Ctrl-C). */
  readonly stop: AbortSignal
  readonly environment: Environment
}
