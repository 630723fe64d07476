// "forgelet/storage": the types of the storage contract, for authors of storages, and what wraps the transaction of a
// library for `withTransaction`. All of the contract is public. The types that it refers to come from "forgelet".

export type * from './contract/events.ts'
export type * from './contract/host.ts'
export type * from './contract/storage.ts'
export type * from './contract/stores.ts'
export type {
  SqlDatabase,
  SqlStatement,
  SqlStorage,
  SqlTransactionOptions,
} from './sql/database.ts'
export type { SqlDialectName } from './sql/dialect.ts'
export type {
  HostPortsOf,
  HostTable,
  HostTables,
  IssueTable,
  MemberTable,
  OrganizationTable,
  RepositoryTable,
  UserTable,
} from './sql/host/tables.ts'
export type { SqlValue } from './sql/query.ts'
export {
  fromDrizzle,
  fromKnex,
  fromKysely,
  fromMariadb,
  fromMikroOrm,
  fromPostgresJs,
  fromPrisma,
  fromTypeOrm,
} from './sql/servers/host-transaction.ts'
export type { Isolation, Transactional, TransactionOptions, WorkInTransaction } from './sql/servers/in-transaction.ts'
export type * from './sql/servers/libraries.ts'
export { inTransaction } from './sql/servers/library-transaction.ts'
