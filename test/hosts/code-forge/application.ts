import { randomBytes } from 'node:crypto'
import type { Express, Request, RequestHandler } from 'express'
import express from 'express'
import pg from 'pg'
import type { Embedded } from './glue.ts'
import { embed } from './glue.ts'

// A code forge as there are many: text ids with a prefix, names that keep their case, users and organizations that may share one,
// owners of both kinds in one column, issues and pull requests that are counted apart, hard deletions, a session cookie with a
// CSRF token, and five statements that add members. forgelet is in `glue.ts` alone.

/** The tables of the application. */
export const TABLES: readonly string[] = [
  `create table users (id text primary key, username text not null unique, display_name text, email text not null, is_admin boolean not null default false)`,
  'create table organizations (id text primary key, slug text not null unique)',
  `create table memberships (organization_id text not null references organizations on delete cascade, user_id text not null references users on delete cascade,
    role text not null default 'member', primary key (organization_id, user_id))`,
  `create table repositories (id text primary key, owner_id text not null, name text not null, visibility text not null default 'public', unique (owner_id, name))`,
  `create table issues (id text primary key, repository_id text not null references repositories on delete cascade, number integer not null, title text not null,
    body text, state text not null default 'open', author_id text references users on delete set null, created_at timestamptz not null default now(), unique (repository_id, number))`,
  `create table pull_requests (id text primary key, repository_id text not null references repositories on delete cascade, number integer not null, title text not null,
    state text not null default 'open', author_id text references users on delete set null, created_at timestamptz not null default now(), unique (repository_id, number))`,
  'create table sessions (id text primary key, user_id text not null references users on delete cascade, csrf text not null)',
  'create table access_tokens (token text primary key, user_id text not null references users on delete cascade)',
  'create table group_users (group_name text not null, user_id text not null)',
]

/** A user who is signed in. */
export interface Account {
  readonly id: string
  readonly isAdmin: boolean
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** Makes an id: a prefix, and 21 characters as nanoid has them. */
export function newId(prefix: 'usr' | 'org' | 'repo' | 'issue' | 'pr'): string {
  return `${prefix}_${[...randomBytes(21)].map((byte) => ALPHABET[byte % 64]).join('')}`
}

/** The application, running on a pool. */
export interface CodeForge extends Pick<Embedded, 'forge'> {
  readonly app: Express
}

/** The user of a session or of an access token; null without one, undefined for a credential that is wrong. */
export async function accountOf(pool: pg.Pool, request: Request): Promise<Account | null | undefined> {
  const token = /^(?:token|Bearer) (.+)$/.exec(request.headers.authorization ?? '')?.[1]
  const session = sessionIn(request)
  if (token === undefined && session === undefined) return null
  const [table, key, value] = token === undefined ? ['sessions', 'id', session] : ['access_tokens', 'token', token]
  const text = `select u.id, u.is_admin as "isAdmin" from users u join ${table} c on c.user_id = u.id where c.${key} = $1`
  const { rows } = await pool.query<Account>(text, [value])
  return rows[0]
}

function sessionIn({ headers }: Request): string | undefined {
  return /(?:^|; )session=([^;]+)/.exec(headers.cookie ?? '')?.[1]
}

/** Refuses unsafe requests with a session cookie whose header does not repeat the token of the session. */
function csrf(pool: pg.Pool, exempt: string): RequestHandler {
  return async (request, response, next) => {
    const session = sessionIn(request)
    if (/^(GET|HEAD|OPTIONS)$/.test(request.method) || session === undefined || request.path.startsWith(exempt)) {
      return next()
    }
    const { rows } = await pool.query('select csrf from sessions where id = $1', [session])
    if (rows[0]?.csrf === request.headers['x-csrf-token']) return next()
    return response.status(403).send('the CSRF token is missing')
  }
}

/** Opens the application on a database that has its tables. */
export async function openCodeForge(pool: pg.Pool): Promise<CodeForge> {
  const { forge, mount, prefix, mayWrite } = await embed(pool)
  const app = express()
  app.use(csrf(pool, prefix))
  app.use(prefix, mount)
  app.use(express.json())

  app.post('/login', async ({ body }, response) => {
    const [id, token] = [newId('usr'), randomBytes(16).toString('hex')]
    const text = 'insert into sessions select $1, id, $2 from users where username = $3'
    const { rowCount } = await pool.query(text, [id, token, body.username])
    if (rowCount === 0) return response.sendStatus(401)
    return response.cookie('session', id, { httpOnly: true, sameSite: 'lax' }).json({ csrf: token })
  })
  app.post('/repositories/:id/comments', async (request, response) => {
    const account = await accountOf(pool, request)
    if (!account) return response.sendStatus(401)
    const { rows } = await pool.query('select owner_id from repositories where id = $1', [request.params.id])
    if (rows[0] === undefined) return response.sendStatus(404)
    return response.sendStatus((await mayWrite(rows[0].owner_id, account)) ? 201 : 403)
  })
  for (const [path, table] of [
    ['/repositories/:id', 'repositories'],
    ['/organizations/:id', 'organizations'],
    ['/users/:id', 'users'],
    ['/issues/:id', 'issues'],
  ] as const) {
    app.delete(path, async (request, response) => {
      await pool.query(`delete from ${table} where id = $1`, [request.params.id])
      response.sendStatus(204)
    })
  }
  return { app, forge }
}

/** The five ways to add members: an invitation, a directory, a provisioning client, a handover, and a seeder. */
export const JOINING: readonly {
  readonly name: string
  join(pool: pg.Pool, url: string, organizationId: string, userId: string): Promise<unknown>
}[] = [
  {
    name: 'an accepted invitation',
    join: (pool, _url, organizationId, userId) =>
      pool.query('insert into memberships values ($1, $2)', [organizationId, userId]),
  },
  {
    name: 'the groups of a directory',
    async join(pool, _url, organizationId, userId) {
      await pool.query("insert into group_users values ('staff', $1)", [userId])
      await pool.query(
        "insert into memberships (organization_id, user_id) select $1, user_id from group_users where group_name = 'staff'",
        [organizationId],
      )
    },
  },
  {
    name: 'a provisioning client',
    join: (pool, _url, organizationId, userId) =>
      pool.query(
        `insert into memberships (organization_id, user_id, role) values ($1, $2, 'admin')
          on conflict (organization_id, user_id) do update set role = excluded.role`,
        [organizationId, userId],
      ),
  },
  {
    name: 'a membership that is handed over',
    join: (pool, _url, organizationId, userId) =>
      pool.query("update memberships set user_id = $2 where organization_id = $1 and role = 'bot'", [
        organizationId,
        userId,
      ]),
  },
  {
    name: 'a seeder with a connection of its own',
    async join(_pool, url, organizationId, userId) {
      const client = new pg.Client(url)
      await client.connect()
      try {
        await client.query('begin isolation level repeatable read')
        await client.query('select 1 from users limit 1')
        await client.query('insert into memberships select $1, unnest($2::text[])', [organizationId, [userId]])
        await client.query('commit')
      } finally {
        await client.end()
      }
    },
  },
]
