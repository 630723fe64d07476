/** What makes a server unavailable, and what to do. */
export const UNAVAILABLE = {
  user: 'the server refuses the user: correct the user or the password',
  database: 'the server has no database of that name: create it, or correct the name',
  privilege: 'the user lacks a privilege: grant it what it needs on the database and its tables',
  schema: 'the schema does not exist: create it, or correct its name or search_path',
  tables: 'a table or a column of the storage is missing: see schemaStatus()',
  full: 'the server has too many connections',
  space: 'the server has no space or no memory left',
  packet: 'the server does not accept that much data at once: raise max_allowed_packet',
  'read-only': 'the server is read-only, or a standby, or the transaction is read-only',
  proxy: 'a proxy refuses a parameter of the connection: remove it from the URL, or let the proxy ignore it',
  'no-tls': 'the server does not offer TLS: enable it there, or remove sslmode, or ssl, from the URL or the pool',
  certificate:
    'the certificate of the server is not accepted: connect by a host name that is in it, and name the file of its CA, with sslrootcert in a PostgreSQL URL, or with NODE_EXTRA_CA_CERTS in the environment',
  tls: 'the server was reached, but TLS fails: correct the settings of TLS, such as sslmode, or ssl, and the file of the CA',
  'cannot-now': 'the server cannot do this now',
} as const

/** What the code of a server means. */
export type Meaning =
  /** Nothing is done, and the same work may succeed: serialization, deadlock, lock timeout, or ended by another timeout. */
  | 'aborted'
  /** An earlier statement of the transaction has failed: only its end can run in it. */
  | 'failed'
  /** What is to be created is there. */
  | 'exists'
  /** A foreign key refuses a row, or its removal. */
  | 'reference'
  /** No transaction is open, or one that the server has ended. */
  | 'outside'
  | keyof typeof UNAVAILABLE

/** What codes mean. */
type ErrorTable = Readonly<Record<string, Meaning>>

/**
 * What the codes of PostgreSQL mean: whole ones, and the beginnings of others.
 * Source: https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
export const POSTGRES_ERRORS: ErrorTable = {
  '08': 'cannot-now',
  '0A000': 'read-only',
  '23503': 'reference',
  '25006': 'read-only',
  '25P01': 'outside',
  '25P02': 'failed',
  '25P': 'cannot-now',
  '28': 'user',
  '3D000': 'database',
  '3F000': 'schema',
  '40001': 'aborted',
  '40P01': 'aborted',
  '42501': 'privilege',
  '42703': 'tables',
  '42710': 'exists',
  '42P01': 'tables',
  '53': 'space',
  '53300': 'full',
  '55P03': 'aborted',
  '57014': 'aborted', // by a timeout of a statement
  '57P': 'cannot-now',
  '58': 'cannot-now',
  XX: 'cannot-now',
}

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
