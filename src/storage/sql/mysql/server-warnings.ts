import type { Statement } from '../query.ts'

/** The settings that decide whether committed data is durable. */
export interface Durability {
  readonly flush: number
  readonly log: 'yes' | 'no'
  readonly sync: number
}

/** Reads these settings. */
export const DURABILITY: Statement<Durability> = {
  sql:
    'select cast(@@global.innodb_flush_log_at_trx_commit as double) as flush, ' +
    "if(@@global.log_bin, 'yes', 'no') as log, cast(@@global.sync_binlog as double) as sync",
  parameters: [],
  returnsRows: true,
}

/**
 * Returns warnings about settings that endanger committed data. They are settings of the whole server, so the library
 * does not change them.
 */
export function warningsAbout({ flush, log, sync }: Durability): readonly string[] {
  const warnings: string[] = []
  if (flush !== 1) {
    warnings.push(
      `the server has innodb_flush_log_at_trx_commit = ${flush}: what is committed may be lost when it stops; set it to 1`,
    )
  }
  if (log === 'yes' && sync !== 1) {
    warnings.push(
      `the server has sync_binlog = ${sync}: what is committed may be lost when its machine stops; set it to 1`,
    )
  }
  return warnings
}
