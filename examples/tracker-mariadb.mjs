// The issues of a host on mysql2 and MariaDB, for their import and export: createForge({ issues: createTracker(pool) }).
// A Gitea-like host has more columns; the statements stay the same. Names of people are kept as text, beside their accounts.

/** The tables of the host. Names and titles differ if any character does: the collation compares them as they are. */
export const TABLES = `
  create table user (id bigint primary key, name varchar(255) not null unique)
    character set utf8mb4 collate utf8mb4_nopad_bin;
  create table label (repository bigint, name varchar(700), record longtext not null, primary key (repository, name))
    character set utf8mb4 collate utf8mb4_nopad_bin;
  create table milestone (repository bigint, title varchar(700), record longtext not null, primary key (repository, title))
    character set utf8mb4 collate utf8mb4_nopad_bin;
  create table issue (repository bigint, number bigint, title longtext not null, poster_id bigint references user (id),
    created_at bigint not null, record longtext not null, primary key (repository, number)) character set utf8mb4;
  create table comment (id bigint auto_increment primary key, repository bigint, issue bigint,
    poster_id bigint references user (id), created_at bigint not null, record longtext not null) character set utf8mb4;
  create index comment_of on comment (repository, issue, created_at);
  create table next_number (repository bigint primary key, number bigint not null)`

/** What the tables have of a record is a column; the rest of it is JSON. */
export function createTracker(pool) {
  const records = (rows) => rows.map(({ record }) => JSON.parse(record))

  /** Returns how to run a statement on the connection of the transaction, or on the pool outside of one. */
  const on =
    ({ transaction = pool }) =>
    async (sql, ...values) => {
      const [rows] = await transaction.query(sql, values)
      return rows
    }

  return {
    async issues(query, context) {
      const run = on(context)
      const found =
        'numbers' in query
          ? await run(
              'select record from issue where repository = ? and number in (?) order by number',
              query.repositoryId,
              query.numbers,
            )
          : await run(
              'select record from issue where repository = ? and number > ? order by number limit ?',
              query.repositoryId,
              query.after,
              query.limit,
            )
      const all = records(await run('select record from label where repository = ?', query.repositoryId))
      const named = new Map(all.map((label) => [label.name, label]))
      return records(found).map(({ labels, ...issue }) =>
        labels ? { ...issue, labels: labels.map((name) => named.get(name)) } : issue,
      )
    },

    async comments({ repositoryId, numbers }, context) {
      const sql = 'select record from comment where repository = ? and issue in (?) order by issue, created_at, id'
      return records(await on(context)(sql, repositoryId, numbers))
    },

    async labelsAndMilestones({ repositoryId }, context) {
      const all = async (table) =>
        records(await on(context)(`select record from ${table} where repository = ?`, repositoryId))
      return { labels: await all('label'), milestones: await all('milestone') }
    },

    async findUsers(users, context) {
      const names = users.map(({ name }) => name)
      const rows = await on(context)('select cast(id as char) as id, name from user where name in (?)', names)
      const ids = new Map(rows.map(({ id, name }) => [name, id]))
      return names.map((name) => ids.get(name))
    },

    async write({ repositoryId, labels, milestones, create, update, comments }, context) {
      const run = on(context)

      // The number first: a user who creates an issue meanwhile waits for the end of the import's transaction.
      const numbers = [...create, ...update].map(({ record }) => record.number)
      const raise = `insert into next_number values (?, ?)
        on duplicate key update number = greatest(number, value(number))`
      if (numbers.length > 0) await run(raise, repositoryId, Math.max(...numbers) + 1)

      const addLabel = 'insert into label values (?, ?, ?) on duplicate key update name = label.name'
      for (const label of labels) await run(addLabel, repositoryId, label.name, JSON.stringify(label))
      const addMilestone = 'insert into milestone values (?, ?, ?) on duplicate key update title = milestone.title'
      for (const milestone of milestones) {
        await run(addMilestone, repositoryId, milestone.title, JSON.stringify(milestone))
      }

      // One row at a time: the server accepts 16 MiB in a statement. If a user has taken a number since the issues were
      // read, the key refuses the batch.
      const columns = ({ record, posterId, createdAt }) => {
        const kept = record.labels ? { ...record, labels: record.labels.map(({ name }) => name) } : record
        return [record.title, posterId, createdAt.getTime(), JSON.stringify(kept)]
      }
      const add = 'insert into issue values (?, ?, ?, ?, ?, ?)'
      for (const issue of create) await run(add, repositoryId, issue.record.number, ...columns(issue))
      const replace = `update issue set title = ?, poster_id = ?, created_at = ?, record = ?
        where repository = ? and number = ?`
      for (const issue of update) await run(replace, ...columns(issue), repositoryId, issue.record.number)

      const addComment = 'insert into comment (repository, issue, poster_id, created_at, record) values (?, ?, ?, ?, ?)'
      for (const { record, posterId, createdAt } of comments) {
        await run(addComment, repositoryId, record.issue_number, posterId, createdAt.getTime(), JSON.stringify(record))
      }
    },
  }
}

/** Creates an issue as a user of the host does, in the transaction of the connection. */
export async function createIssue(connection, { repositoryId, title, posterId, name }) {
  const next = `insert into next_number values (?, 2)
    on duplicate key update number = number + 1 returning number - 1 as number`
  const [[{ number }]] = await connection.query(next, [repositoryId])
  const now = new Date()
  const times = { created: now.toISOString(), updated: now.toISOString() }
  const person = { poster_id: posterId, poster_name: name }
  const record = { number, ...person, title, content: '', state: 'open', is_locked: false, ...times }
  const add = 'insert into issue values (?, ?, ?, ?, ?, ?)'
  await connection.query(add, [repositoryId, number, title, posterId, now.getTime(), JSON.stringify(record)])
  return number
}
