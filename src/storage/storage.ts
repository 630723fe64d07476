// "forgelet/storage": the types of the storage contract, for authors of storages, and what wraps the transaction of a
// library for `withTransaction`. All of the contract is public. The types that it refers to come from "forgelet".

export type * from './contract/events.ts'
export type * from './contract/host.ts'
export type * from './contract/storage.ts'
export type * from './contract/stores.ts'
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
export type {
  DrizzleSql,
  DrizzleTransaction,
  HostTransaction,
  KnexTransaction,
  KyselyExecutor,
  KyselyQuery,
  KyselyTransaction,
  PrismaTransaction,
} from './sql/servers/host-transaction.ts'
export { fromDrizzle, fromKnex, fromKysely, fromPrisma } from './sql/servers/host-transaction.ts'
