import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server } from 'node:http'
import { createServer } from 'node:http'
import type { Generated, Transaction } from 'kysely'
import { Kysely, PostgresDialect, sql } from 'kysely'
import type pg from 'pg'
import type { Embedded } from './glue.ts'
import { embed } from './glue.ts'

// A project tracker as there are many: uuids, people who are deleted softly and their memberships in a schema of their own,
// workspaces within workspaces between an organization and its projects, a trash for tasks and projects, three visibilities, and
// no one who is not signed in. It uses Kysely. forgelet is in `glue.ts` alone.

/** The tables of the application. */
export const TABLES: readonly string[] = [
  'create schema identity',
  `create table identity.people (id uuid primary key default gen_random_uuid(), handle text unique, name text not null, email text not null unique,
    token text unique, is_operator boolean not null default false, deleted_at timestamp(3))`,
  'create table organizations (id uuid primary key default gen_random_uuid(), slug text not null unique)',
  `create table identity.memberships (id uuid primary key default gen_random_uuid(), organization_id uuid not null references organizations on delete cascade,
    person_id uuid not null references identity.people on delete cascade, role text not null default 'MEMBER', left_at timestamp(3), unique (organization_id, person_id))`,
  `create table workspaces (id uuid primary key default gen_random_uuid(), organization_id uuid references organizations on delete cascade,
    parent_id uuid references workspaces on delete cascade, name text not null, check ((organization_id is null) <> (parent_id is null)))`,
  `create table projects (id uuid primary key default gen_random_uuid(), workspace_id uuid not null references workspaces on delete cascade, slug text not null,
    visibility text not null default 'INTERNAL', trashed_at timestamp(3))`,
  'create table project_people (project_id uuid not null references projects on delete cascade, person_id uuid not null, primary key (project_id, person_id))',
  `create table tasks (id uuid primary key default gen_random_uuid(), project_id uuid not null references projects on delete cascade, number integer not null,
    title text not null, notes text, status text not null default 'TODO', author_id uuid not null references identity.people on delete cascade,
    created_at timestamp(3) not null default (now() at time zone 'utc'), trashed_at timestamp(3), unique (project_id, number))`,
  `create view project_paths as with recursive inside as (
      select id, organization_id from workspaces where organization_id is not null
      union all select w.id, inside.organization_id from workspaces w join inside on w.parent_id = inside.id)
    select p.id, p.slug, p.visibility, inside.organization_id from projects p join inside on inside.id = p.workspace_id where p.trashed_at is null`,
]

/** The tables of the application, as its code knows them. */
export interface Database {
  'identity.people': { id: Generated<string>; token: string | null; is_operator: boolean; deleted_at: Date | null }
  project_people: { project_id: string; person_id: string }
  project_paths: { id: string; visibility: 'PRIVATE' | 'INTERNAL' | 'PUBLIC' }
}

/** A person who is signed in. */
export interface Person {
  readonly id: string
  readonly isOperator: boolean
}

/** The application, running. */
export interface Tracker extends Pick<Embedded, 'forge'> {
  readonly server: Server
  readonly database: Kysely<Database>
}

/** The person of a bearer token; undefined if there is none. */
export async function personOf(database: Kysely<Database>, token: string): Promise<Person | undefined> {
  const row = await database
    .selectFrom('identity.people')
    .select(['id', 'is_operator'])
    .where('token', '=', token)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return row && { id: row.id, isOperator: row.is_operator }
}

/** Opens the application on a pool whose database has its tables. */
export async function openTracker(pool: pg.Pool): Promise<Tracker> {
  const database = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) })
  const { forge, handle } = await embed(database)
  const server = createServer((request, response) =>
    handle(request, response, () => {
      answer(database, request).then(
        (status) => response.writeHead(status).end('the tracker'),
        () => response.writeHead(500).end(),
      )
    }),
  )
  return { server, database, forge }
}

const ID = '([0-9a-f-]{36})'
/** The routes that delete, hide and restore, each with its statement. */
const ROUTES: readonly (readonly [RegExp, (id: string) => ReturnType<typeof sql>])[] = [
  [new RegExp(`^POST /tasks/${ID}/trash$`), (id) => sql`update tasks set trashed_at = now() where id = ${id}`],
  [new RegExp(`^POST /tasks/${ID}/restore$`), (id) => sql`update tasks set trashed_at = null where id = ${id}`],
  [new RegExp(`^POST /projects/${ID}/trash$`), (id) => sql`update projects set trashed_at = now() where id = ${id}`],
  [new RegExp(`^POST /projects/${ID}/restore$`), (id) => sql`update projects set trashed_at = null where id = ${id}`],
  [new RegExp(`^DELETE /workspaces/${ID}$`), (id) => sql`delete from workspaces where id = ${id}`],
  [new RegExp(`^DELETE /organizations/${ID}$`), (id) => sql`delete from organizations where id = ${id}`],
  [new RegExp(`^DELETE /people/${ID}$`), (id) => sql`update identity.people set deleted_at = now() where id = ${id}`],
  [
    new RegExp(`^POST /people/${ID}/restore$`),
    (id) => sql`update identity.people set deleted_at = null where id = ${id}`,
  ],
  [new RegExp(`^POST /people/${ID}/purge$`), (id) => sql`delete from identity.people where id = ${id}`],
]

async function answer(database: Kysely<Database>, { method, url }: IncomingMessage): Promise<number> {
  for (const [route, statement] of ROUTES) {
    const [, id] = route.exec(`${method} ${url}`) ?? []
    if (id === undefined) continue
    await database.transaction().execute((transaction: Transaction<Database>) => statement(id).execute(transaction))
    return 204
  }
  return url === '/' ? 200 : 404
}

/** The ways to add members, by the ids of an organization and a person. */
export const JOINING: readonly (readonly [string, (organization: string, person: string) => readonly string[]])[] = [
  [
    'an invitation',
    (organization, person) => [
      `insert into identity.memberships (organization_id, person_id) values ('${organization}', '${person}')`,
    ],
  ],
  [
    'the return of a member who had left',
    (organization, person) => [
      `insert into identity.memberships (organization_id, person_id, left_at) values ('${organization}', '${person}', now()) on conflict do nothing`,
      `update identity.memberships set left_at = null where person_id = '${person}'`,
    ],
  ],
  [
    'an import with ids of its own',
    (organization, person) => [
      `insert into identity.memberships (id, organization_id, person_id, role)
        select '${randomUUID()}', o.id, p.id, 'MANAGER' from organizations o cross join identity.people p where o.id = '${organization}' and p.id = '${person}'`,
    ],
  ],
]
