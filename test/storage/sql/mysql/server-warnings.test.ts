import { expect, test } from 'vitest'
import { warningsAbout } from '../../../../src/storage/sql/server/mariadb-rules.ts'

test.each([
  [{ flush: 1, log: 'no', sync: 0 }, []],
  [{ flush: 1, log: 'yes', sync: 1 }, []],
  [{ flush: 0, log: 'no', sync: 0 }, [/innodb_flush_log_at_trx_commit = 0/]],
  [{ flush: 2, log: 'yes', sync: 0 }, [/innodb_flush_log_at_trx_commit = 2/, /sync_binlog = 0/]],
] as const)('a server with %j is warned of', (settings, reported) => {
  const warnings = warningsAbout(settings)

  expect(warnings).toHaveLength(reported.length)
  for (const [index, text] of reported.entries()) expect(warnings[index]).toMatch(text)
})
