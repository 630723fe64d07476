import type { ErrorTable } from './error-meanings.ts'

/**
 * What the codes of MariaDB mean.
 * Source: https://mariadb.com/docs/server/reference/error-codes/mariadb-error-code-reference
 */
export const MARIADB_ERRORS: ErrorTable = {
  1020: 'aborted', // since 11.6: a row has changed since the snapshot
  1021: 'space',
  1040: 'full',
  1044: 'privilege',
  1045: 'user',
  1046: 'database',
  1047: 'cannot-now', // a node of a cluster that is not ready
  1049: 'database',
  1053: 'cannot-now',
  1054: 'tables',
  1114: 'space',
  1129: 'cannot-now',
  1130: 'user',
  1142: 'privilege',
  1143: 'privilege',
  1146: 'tables',
  1153: 'packet',
  1203: 'full',
  1205: 'aborted',
  1213: 'aborted',
  1216: 'reference',
  1217: 'reference',
  1226: 'full',
  1290: 'read-only',
  1305: 'outside',
  1317: 'aborted',
  1412: 'aborted', // a table was rebuilt since the snapshot
  1451: 'reference',
  1452: 'reference',
  1461: 'cannot-now',
  1665: 'cannot-now',
  1698: 'user',
  1792: 'read-only',
  1836: 'read-only',
  1927: 'cannot-now',
  1969: 'aborted',
}
