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
export type ErrorTable = Readonly<Record<string, Meaning>>
