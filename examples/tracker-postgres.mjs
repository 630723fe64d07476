// The issues of a host on pg, for the import and export of issues: createForge({ issues: createTracker(pool) }).
// A Gitea-like host has more columns; the statements stay the same. Names of people are kept as text, beside their accounts.

/** The tables of the host. */
export const TABLES = `
  create table "user" (id bigint primary key, name text not null unique);
  create table label (repository bigint, name text, record text not null, primary key (repository, name));
  create table milestone (repository bigint, title text, record text not null, primary key (repository, title));
  create table issue (repository bigint, number bigint, title text not null, poster_id bigint references "user",
    created_at bigint not null, record text not null, primary key (repository, number));
  create table comment (id bigint generated always as identity primary key, repository bigint, issue bigint,
    poster_id bigint references "user", created_at bigint not null, record text not null);
  create index comment_of on comment (repository, issue, created_at);
  create table next_number (repository bigint primary key, number bigint not null)`

/** What the tables have of a record is a column; the rest of it is JSON. */
export function createTracker(pool) {
  const records = ({ rows }) => rows.map(({ record }) => JSON.parse(record))

  /** Returns how to run a statement on the client of the transaction, or on the pool outside of one. */
  const on =
    ({ transaction = pool }) =>
    (sql, ...values) =>
      transaction.query(sql, values)

  return {
    async issues(query, context) {
      const run = on(context)
      const found =
        'numbers' in query
          ? await run(
              'select record from issue where repository = $1 and number = any($2) order by number',
              query.repositoryId,
              query.numbers,
            )
          : await run(
              'select record from issue where repository = $1 and number > $2 order by number limit $3',
              query.repositoryId,
              query.after,
              query.limit,
            )
      const all = records(await run('select record from label where repository = $1', query.repositoryId))
      const named = new Map(all.map((label) => [label.name, label]))
      return records(found).map(({ labels, ...issue }) =>
        labels ? { ...issue, labels: labels.map((name) => named.get(name)) } : issue,
      )
    },

    async comments({ repositoryId, numbers }, context) {
      const sql = `select record from comment where repository = $1 and issue = any($2) order by issue, created_at, id`
      return records(await on(context)(sql, repositoryId, numbers))
    },

    async labelsAndMilestones({ repositoryId }, context) {
      const all = async (table) =>
        records(await on(context)(`select record from ${table} where repository = $1`, repositoryId))
      return { labels: await all('label'), milestones: await all('milestone') }
    },

    async findUsers(users, context) {
      const names = users.map(({ name }) => name)
      const { rows } = await on(context)('select id::text, name from "user" where name = any($1)', names)
      const ids = new Map(rows.map(({ id, name }) => [name, id]))
      return names.map((name) => ids.get(name))
    },

    async write({ repositoryId, labels, milestones, create, update, comments }, context) {
      const run = on(context)
      const texts = (list) => list.map((record) => JSON.stringify(record))
      const people = (list) => [list.map(({ posterId }) => posterId), list.map(({ createdAt }) => createdAt.getTime())]

      // The number first: a user who creates an issue meanwhile waits for the end of the import's transaction.
      const numbers = [...create, ...update].map(({ record }) => record.number)
      const raise = `insert into next_number values ($1, $2)
        on conflict (repository) do update set number = greatest(next_number.number, excluded.number)`
      if (numbers.length > 0) await run(raise, repositoryId, Math.max(...numbers) + 1)

      const add = (table) =>
        `insert into ${table} select $1, * from unnest($2::text[], $3::text[]) on conflict do nothing`
      const names = labels.map(({ name }) => name)
      await run(add('label'), repositoryId, names, texts(labels))
      const titles = milestones.map(({ title }) => title)
      await run(add('milestone'), repositoryId, titles, texts(milestones))

      const columns = (issues) => {
        const kept = issues.map(({ record }) =>
          record.labels ? { ...record, labels: record.labels.map(({ name }) => name) } : record,
        )
        return [kept.map(({ number }) => number), kept.map(({ title }) => title), ...people(issues), texts(kept)]
      }
      const given = 'unnest($2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::text[])'
      // If a user has taken a number since the issues were read, the key refuses the batch.
      await run(`insert into issue select $1, * from ${given}`, repositoryId, ...columns(create))
      await run(
        `update issue set title = new.title, poster_id = new.poster_id, created_at = new.created_at, record = new.record
          from ${given} as new (number, title, poster_id, created_at, record)
          where repository = $1 and issue.number = new.number`,
        repositoryId,
        ...columns(update),
      )

      await run(
        `insert into comment (repository, issue, poster_id, created_at, record)
          select $1, * from unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::text[])`,
        repositoryId,
        comments.map(({ record }) => record.issue_number),
        ...people(comments),
        texts(comments.map(({ record }) => record)),
      )
    },
  }
}

/** Creates an issue as a user of the host does, in the transaction of the client. */
export async function createIssue(client, { repositoryId, title, posterId, name }) {
  const next = `insert into next_number values ($1, 2)
    on conflict (repository) do update set number = next_number.number + 1 returning number - 1 as number`
  const { rows } = await client.query(next, [repositoryId])
  const number = Number(rows[0].number)
  const now = new Date()
  const times = { created: now.toISOString(), updated: now.toISOString() }
  const person = { poster_id: posterId, poster_name: name }
  const record = { number, ...person, title, content: '', state: 'open', is_locked: false, ...times }
  const add = 'insert into issue values ($1, $2, $3, $4, $5, $6)'
  await client.query(add, [repositoryId, number, title, posterId, now.getTime(), JSON.stringify(record)])
  return number
}
