// The servers of tables.mjs: `node bench/tables-server.mjs VARIANT DB`. One host with tables of its own, on SQLite or PostgreSQL:
// `tables` describes them to the storage, `ports` looks everything up by hand, as a host without `tables` does.
import { createServer } from 'node:http'
import Database from 'better-sqlite3'
import { createForge, rolePolicy, tableRoles } from 'forgelet'
import { createApi, giteaIssue, giteaUser, presentTables } from 'forgelet/http'
import { nodeHandler } from 'forgelet/node'
import { postgresStorage } from 'forgelet/storage/postgres'
import { sqliteStorage } from 'forgelet/storage/sqlite'
import pg from 'pg'
import { runServer } from './servers.mjs'

/** The tables of the host: users 1 to 2,000, of which the first owns acme, and acme/rocket with issues 1 to 2,000. */
export const HOST = [
  'create table users (id bigint primary key, username text not null unique, token text unique, deleted_at text)',
  'create table orgs (id bigint primary key, slug text not null unique)',
  'create table members (org_id bigint, user_id bigint, role text, primary key (org_id, user_id))',
  'create table repos (id bigint primary key, org_id bigint not null, name text not null, unique (org_id, name))',
  'create table issues (id bigint primary key, repo_id bigint not null, number bigint not null, title text, unique (repo_id, number))',
  "insert into orgs values (5, 'acme')",
  "insert into repos values (10, 5, 'rocket')",
  "insert into members values (5, 1, 'owner')",
]
const TABLES = {
  users: { table: 'users', name: 'username', where: 'deleted_at is null' },
  organizations: { table: 'orgs', name: 'slug' },
  members: { table: 'members', organization: 'org_id', user: 'user_id', owner: "role = 'owner'" },
  repositories: { table: 'repos', owner: { organization: 'org_id' } },
  issues: { table: 'issues', repository: 'repo_id', number: 'number', title: 'title' },
}

function openDatabase(db) {
  if (!db.startsWith('postgres')) {
    const handle = new Database(db)
    const prepared = new Map()
    const statement = (text) => {
      const known = prepared.get(text) ?? handle.prepare(text.replaceAll(/\$\d/g, '?'))
      prepared.set(text, known)
      return known
    }
    return {
      storage: (options) => sqliteStorage(handle, options),
      all: (text, ...values) => statement(text).all(...values),
      among: 'in (select value from json_each($1))',
      list: JSON.stringify,
    }
  }
  const pool = new pg.Pool({ connectionString: db })
  const names = new Map()
  const named = (text, values) => {
    if (!names.has(text)) names.set(text, `host_${names.size}`)
    return pool.query({ name: names.get(text), text, values })
  }
  return {
    storage: (options) => postgresStorage(pool, options),
    all: async (text, ...values) => (await named(text, values)).rows,
    among: '= any($1)',
    list: (ids) => ids,
  }
}

/** Calls `then` with the first row, or with all, as soon as they are there. */
const first = (rows, then) => (Array.isArray(rows) ? then(rows[0]) : rows.then(([row]) => then(row)))
const every = (rows, then) => (Array.isArray(rows) ? then(rows) : rows.then(then))

async function open(db, variant) {
  const { storage: openStorage, all, among, list } = openDatabase(db)
  const storage = openStorage(variant === 'tables' ? { tables: TABLES } : {})
  await storage.migrate()
  const limits = { maxPins: { issue: 1000 } }
  const byTables = () => ({
    forge: createForge({ storage, policy: rolePolicy(tableRoles(storage, { admin: () => false })), limits }),
    ports: { directory: storage.host, present: presentTables(storage) },
  })
  const byHand = () => {
    const idOf = ({ actor }) => actor.id ?? null
    const shown = (ids, text, show) =>
      every(all(text, list(ids)), (rows) => {
        const byId = new Map(rows.map((row) => [String(row.id), row]))
        return ids.map((id) => byId.has(id) && show(byId.get(id)))
      })
    const role =
      'select m.role from repos r left join members m on m.org_id = r.org_id and m.user_id = $1 where r.id = $2'
    const member = 'select role from members where org_id = $1 and user_id = $2'
    const repository = 'select r.id from repos r join orgs o on o.id = r.org_id where o.slug = $1 and r.name = $2'
    const user = 'select id from users where username = $1 and deleted_at is null'
    const kindOf = (kind) => (row) => row && { kind, id: row.id }
    return {
      forge: createForge({
        storage,
        limits,
        policy: rolePolicy({
          isSiteAdmin: () => false,
          repositoryRole: (id, context) =>
            first(all(role, idOf(context), id), (row) => (row?.role === 'owner' ? 'admin' : 'reader')),
          organizationRole: (id, context) => first(all(member, id, idOf(context)), (row) => row?.role ?? 'stranger'),
        }),
        membership: {
          isMember: ({ organizationId, userId }) =>
            first(all(member, organizationId, userId), (row) => row !== undefined),
        },
      }),
      ports: {
        directory: {
          findAccount: (name, _context, wanted) =>
            wanted === 'organization'
              ? first(all('select id from orgs where slug = $1', name), kindOf('organization'))
              : first(all(user, name), kindOf('user')),
          findRepository: (owner, name) => first(all(repository, owner, name), (row) => row),
          findIssue: (repositoryId, index) =>
            first(all('select id from issues where repo_id = $1 and number = $2', repositoryId, index), (row) =>
              row === undefined ? undefined : { id: row.id, repositoryId, kind: 'issue' },
            ),
        },
        present: {
          users: (ids) => shown(ids, `select id, username as login from users where id ${among}`, giteaUser),
          issues: (ids) => shown(ids, `select id, number, title from issues where id ${among}`, giteaIssue),
        },
      },
    }
  }
  const { forge, ports } = variant === 'tables' ? byTables() : byHand()
  const api = createApi(forge, { ...ports, services: ['pins', 'blocks'] })
  const byToken = 'select id from users where token = $1 and deleted_at is null'
  const authenticate = ({ headers }) => first(all(byToken, headers.authorization.slice(6)), (row) => row)
  return createServer(nodeHandler(api, { basePath: '/api/v1', authenticate }))
}

if (process.argv[1] === import.meta.filename) {
  await runServer({ tables: (db) => open(db, 'tables'), ports: (db) => open(db, 'ports') })
}
