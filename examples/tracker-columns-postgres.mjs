// The issues of a host with columns of its own on pg, for their import and export: createForge({ issues: createTracker(pool) }).
// Ids are texts, an author must be a user, a label has a color: what a record has and no column can hold is in a table beside
// them, `imported`. An issue that a user of the host has created has no row there.
import { randomUUID } from 'node:crypto'

/** The tables of the host. */
export const TABLES = `
  create table users (id text primary key, name text not null unique);
  create table labels (id text primary key, repository_id text not null, name text not null, color text not null, description text,
    unique (repository_id, name));
  create table milestones (id text primary key, repository_id text not null, title text not null, description text, due_at timestamptz,
    closed_at timestamptz, state text not null, unique (repository_id, title));
  create table issues (id text primary key, repository_id text not null, number integer not null, author_id text not null references users,
    title text not null, body text not null, state text not null, locked boolean not null, milestone_id text references milestones,
    created_at timestamptz not null, updated_at timestamptz not null, closed_at timestamptz, unique (repository_id, number));
  create table issue_labels (issue_id text references issues on delete cascade, label_id text references labels, primary key (issue_id, label_id));
  create table comments (id text primary key, issue_id text not null references issues on delete cascade,
    author_id text not null references users, body text not null, created_at timestamptz not null, updated_at timestamptz not null);
  create table next_numbers (repository_id text primary key, number integer not null);
  create table imported (id text primary key, rest jsonb not null);
  insert into users values ('ghost', 'Ghost')`

/** The author of what no account has written. */
const GHOST = 'ghost'
const DEFAULT_COLOR = 'ededed'

/** The properties of an issue or a comment that have no column: the names of people, who need not have an account. */
const restOf = ({ poster_id, poster_name, poster_email, reactions, ref, assignees }) =>
  JSON.stringify({ poster_id, poster_name, poster_email, reactions, ref, assignees })

/** A time as records have it. Columns are timestamptz: pg reads the others in the zone of the process. */
const time = (date) => date?.toISOString().replace('.000Z', 'Z')

/** Leaves out what is null, as columns have what is missing. */
const present = (record) => Object.fromEntries(Object.entries(record).filter(([, value]) => value != null))

export function createTracker(pool) {
  /** The rows that comments were made of: an update names the comment by the object that it was read as. */
  const idOf = new WeakMap()
  const read = async ({ transaction = pool }, text, values) => (await transaction.query({ text, values })).rows

  const toLabel = ({ name, color, description, rest }) =>
    present({ name, color: rest?.hasNoColor ? undefined : color, description })
  /** Who wrote it: by the record, or else the user. */
  const author = ({ rest, author_name }) => ({ poster_id: 0, poster_name: author_name, ...rest })

  return {
    async issues({ repositoryId, ...query }, context) {
      const [which, limit] = 'numbers' in query ? ['= any ($2)', null] : ['> $2', query.limit]
      const rows = await read(
        context,
        `select i.*, u.name as author_name, m.title as milestone, r.rest, (
            select json_agg(json_build_object('name', l.name, 'color', l.color, 'description', l.description, 'rest', lr.rest) order by l.name)
            from issue_labels il join labels l on l.id = il.label_id left join imported lr on lr.id = l.id where il.issue_id = i.id) as labels
          from issues i join users u on u.id = i.author_id left join milestones m on m.id = i.milestone_id left join imported r on r.id = i.id
          where i.repository_id = $1 and i.number ${which} order by i.number limit $3`,
        [repositoryId, query.numbers ?? query.after, limit],
      )
      return rows.map((row) =>
        present({
          ...author(row),
          ...{ number: row.number, title: row.title, content: row.body, state: row.state, is_locked: row.locked },
          ...{ created: time(row.created_at), updated: time(row.updated_at), closed: time(row.closed_at) },
          ...{ milestone: row.milestone, labels: row.labels?.map(toLabel) },
        }),
      )
    },

    async comments({ repositoryId, numbers }, context) {
      const rows = await read(
        context,
        `select c.*, i.number, u.name as author_name, r.rest from comments c join issues i on i.id = c.issue_id
          join users u on u.id = c.author_id left join imported r on r.id = c.id
          where i.repository_id = $1 and i.number = any ($2) order by i.number, c.created_at, c.id`,
        [repositoryId, numbers],
      )
      return rows.map((row) => {
        const times = { created: time(row.created_at), updated: time(row.updated_at) }
        const comment = present({ issue_number: row.number, ...author(row), ...times, content: row.body })
        idOf.set(comment, row.id)
        return comment
      })
    },

    async labelsAndMilestones({ repositoryId }, context) {
      const all = (table) =>
        read(
          context,
          `select t.*, r.rest from ${table} t left join imported r on r.id = t.id where repository_id = $1`,
          [repositoryId],
        )
      const milestones = (await all('milestones')).map(({ title, description, due_at, closed_at, state, rest }) =>
        present({ title, description, deadline: time(due_at), closed: time(closed_at), state, ...rest }),
      )
      return { labels: (await all('labels')).map(toLabel), milestones }
    },

    async findUsers(users, context) {
      const names = users.map(({ name }) => name)
      const rows = await read(context, 'select id, name from users where name = any ($1) and id <> $2', [names, GHOST])
      return names.map((name) => rows.find((row) => row.name === name)?.id)
    },

    async write(batch, context) {
      const { repositoryId, create, update } = batch
      const run = (text, ...values) => read(context, text, values)
      const keep = (id, rest) =>
        run('insert into imported values ($1, $2) on conflict (id) do update set rest = excluded.rest', id, rest)

      // The number first: a user who creates an issue meanwhile waits for the end of the import's transaction.
      const numbers = [...create, ...update].map(({ record }) => record.number)
      await raise(context.transaction, repositoryId, Math.max(0, ...numbers) + 1)

      const writeLabel = async ({ name, color, description }, end) => {
        const values = [randomUUID(), repositoryId, name, color ?? DEFAULT_COLOR, description]
        const [row] = await run(`insert into labels values ($1, $2, $3, $4, $5) ${end} returning id`, ...values)
        if (row) await keep(row.id, JSON.stringify({ hasNoColor: color === undefined }))
      }
      const replaced =
        'on conflict (repository_id, name) do update set color = excluded.color, description = excluded.description'
      for (const label of batch.labels) await writeLabel(label, 'on conflict do nothing')
      for (const label of batch.labelUpdates) await writeLabel(label, replaced)

      const writeMilestone = async ({ title, description, deadline, closed, state, ...rest }, end) => {
        const values = [randomUUID(), repositoryId, title, description, deadline, closed, state]
        const [row] = await run(
          `insert into milestones values ($1, $2, $3, $4, $5, $6, $7) ${end} returning id`,
          ...values,
        )
        if (row) await keep(row.id, JSON.stringify(rest))
      }
      const changed = `on conflict (repository_id, title) do update
        set (description, due_at, closed_at, state) = (excluded.description, excluded.due_at, excluded.closed_at, excluded.state)`
      for (const milestone of batch.milestones) await writeMilestone(milestone, 'on conflict do nothing')
      for (const milestone of batch.milestoneUpdates) await writeMilestone(milestone, changed)

      // A number that a user has taken since the issues were read is refused by the key.
      const updated = `on conflict (repository_id, number) do update set (author_id, title, body, state, locked, milestone_id, created_at,
        updated_at, closed_at) = (excluded.author_id, excluded.title, excluded.body, excluded.state, excluded.locked, excluded.milestone_id,
        excluded.created_at, excluded.updated_at, excluded.closed_at)`
      const writeIssue = async ({ record, posterId, createdAt, updatedAt, closedAt }, end) => {
        const { number, title, content, state, is_locked, milestone, labels = [] } = record
        const [{ id }] = await run(
          `insert into issues values ($1, $2, $3, $4, $5, $6, $7, $8,
            (select id from milestones where repository_id = $2 and title = $9), $10, $11, $12) ${end} returning id`,
          ...[randomUUID(), repositoryId, number, posterId ?? GHOST, title, content, state, is_locked],
          ...[milestone, createdAt, updatedAt, closedAt],
        )
        await keep(id, restOf(record))
        await run('delete from issue_labels where issue_id = $1', id)
        await run(
          'insert into issue_labels select $1, id from labels where repository_id = $2 and name = any ($3)',
          ...[id, repositoryId, labels.map(({ name }) => name)],
        )
      }
      for (const issue of create) await writeIssue(issue, '')
      for (const issue of update) await writeIssue(issue, updated)

      for (const { record, posterId, createdAt, updatedAt } of batch.comments) {
        const [{ id }] = await run(
          `insert into comments select $1, id, $4, $5, $6, $7 from issues where repository_id = $2 and number = $3 returning id`,
          ...[randomUUID(), repositoryId, record.issue_number, posterId ?? GHOST, record.content, createdAt, updatedAt],
        )
        await keep(id, restOf(record))
      }
      for (const { record, previous, posterId, createdAt, updatedAt } of batch.commentUpdates) {
        const id = idOf.get(previous)
        const text =
          'update comments set body = $2, author_id = coalesce($3, author_id), created_at = $4, updated_at = $5 where id = $1'
        await run(text, id, record.content, posterId, createdAt, updatedAt)
        await keep(id, restOf(record))
      }
    },

    reserveNumbers: ({ repositoryId, upTo }, { transaction }) => raise(transaction, repositoryId, upTo + 1),
  }
}

/** Raises the next number of a repository. */
async function raise(transaction, repositoryId, number) {
  await transaction.query({
    text: `insert into next_numbers values ($1, $2) on conflict (repository_id) do update
      set number = greatest(next_numbers.number, excluded.number)`,
    values: [repositoryId, number],
  })
}

/** Creates an issue as a user of the host does, in a transaction. */
export async function createIssue(transaction, { repositoryId, title, posterId }) {
  const { rows } = await transaction.query({
    text: `insert into next_numbers values ($1, 2) on conflict (repository_id) do update set number = next_numbers.number + 1
      returning number - 1 as number`,
    values: [repositoryId],
  })
  await transaction.query({
    text: `insert into issues values ($1, $2, $3, $4, $5, '', 'open', false, null, now(), now())`,
    values: [randomUUID(), repositoryId, rows[0].number, posterId, title],
  })
  return rows[0].number
}
