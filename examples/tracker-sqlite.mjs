// The issues of a host on better-sqlite3, for the import and export of issues: createForge({ issues: createTracker(database) }).
// A Gitea-like host has more columns; the statements stay the same. Names of people are kept as text, beside their accounts.

/** The tables of the host. */
export const TABLES = `
  create table user (id integer primary key, name text not null unique);
  create table label (repository integer, name text, record text not null, primary key (repository, name));
  create table milestone (repository integer, title text, record text not null, primary key (repository, title));
  create table issue (repository integer, number integer, title text not null, poster_id integer references user,
    created_at integer not null, record text not null, primary key (repository, number));
  create table comment (id integer primary key, repository integer, issue integer, poster_id integer references user,
    created_at integer not null, record text not null);
  create index comment_of on comment (repository, issue, created_at);
  create table next_number (repository integer primary key, number integer not null)`

/** What the tables have of a record is a column; the rest of it is JSON. */
export function createTracker(database) {
  const numbers = (query) => [query.repositoryId, JSON.stringify(query.numbers)]
  const records = (rows) => rows.map(({ record }) => JSON.parse(record))

  /** Returns the statements on the connection of the transaction, or on the host's own outside of one. */
  const on =
    ({ transaction = database }) =>
    (sql) =>
      transaction.prepare(sql)

  const raise = (repositoryId, number, context) => {
    on(context)(`insert into next_number values (?, ?)
      on conflict do update set number = max(number, excluded.number)`).run(repositoryId, number)
  }

  return {
    issues(query, context) {
      const prepare = on(context)
      const rows =
        'numbers' in query
          ? prepare(`select number, record from issue where repository = ?
              and number in (select value from json_each(?)) order by number`).all(...numbers(query))
          : prepare('select number, record from issue where repository = ? and number > ? order by number limit ?').all(
              query.repositoryId,
              query.after,
              query.limit,
            )
      const find = prepare('select record from label where repository = ? and name = ?')
      return records(rows).map(({ labels, ...issue }) =>
        labels ? { ...issue, labels: labels.map((name) => records(find.all(query.repositoryId, name))[0]) } : issue,
      )
    },

    comments: (query, context) =>
      records(
        on(context)(`select record from comment where repository = ?
          and issue in (select value from json_each(?)) order by issue, created_at, id`).all(...numbers(query)),
      ),

    labelsAndMilestones({ repositoryId }, context) {
      const all = (table) => records(on(context)(`select record from ${table} where repository = ?`).all(repositoryId))
      return { labels: all('label'), milestones: all('milestone') }
    },

    findUsers(users, context) {
      const find = on(context)('select cast(id as text) as id from user where name = ?')
      return users.map(({ name }) => find.get(name)?.id)
    },

    write(batch, context) {
      const { repositoryId, labels, milestones, create, update, comments } = batch
      const prepare = on(context)
      const addLabel = prepare('insert into label values (?, ?, ?) on conflict do nothing')
      for (const label of labels) addLabel.run(repositoryId, label.name, JSON.stringify(label))
      const addMilestone = prepare('insert into milestone values (?, ?, ?) on conflict do nothing')
      for (const milestone of milestones) addMilestone.run(repositoryId, milestone.title, JSON.stringify(milestone))

      const replaceLabel = prepare('update label set record = ? where repository = ? and name = ?')
      for (const label of batch.labelUpdates) replaceLabel.run(JSON.stringify(label), repositoryId, label.name)
      const replaceMilestone = prepare('update milestone set record = ? where repository = ? and title = ?')
      for (const milestone of batch.milestoneUpdates) {
        replaceMilestone.run(JSON.stringify(milestone), repositoryId, milestone.title)
      }

      const write = prepare('replace into issue values (?, ?, ?, ?, ?, ?)')
      for (const { record, posterId, createdAt } of [...create, ...update]) {
        const kept = record.labels ? { ...record, labels: record.labels.map(({ name }) => name) } : record
        write.run(repositoryId, record.number, record.title, posterId, createdAt.getTime(), JSON.stringify(kept))
        raise(repositoryId, record.number + 1, context)
      }

      const addComment = prepare(`insert into comment (repository, issue, poster_id, created_at, record)
        values (?, ?, ?, ?, ?)`)
      for (const { record, posterId, createdAt } of comments) {
        addComment.run(repositoryId, record.issue_number, posterId, createdAt.getTime(), JSON.stringify(record))
      }
      // A comment has no number: it is found by what it was.
      const replaceComment = prepare(`update comment set poster_id = coalesce(?, poster_id), record = ?
        where repository = ? and issue = ? and record = ?`)
      for (const { record, posterId, previous } of batch.commentUpdates) {
        const was = JSON.stringify(previous)
        replaceComment.run(posterId, JSON.stringify(record), repositoryId, record.issue_number, was)
      }
    },

    reserveNumbers: ({ repositoryId, upTo }, context) => raise(repositoryId, upTo + 1, context),

    // For exchange.reattribute. These tables have accounts of authors only, so assignees and reactions are left out.
    attribution: {
      named({ repositoryId, after, limit }, context) {
        const people = on(
          context,
        )(`with page as (select * from issue where repository = ? and number > ? order by number limit ?)
          select number, 'issues' as part, record ->> 'poster_name' as name, poster_id as account from page
          union all
          select page.number, 'comments', comment.record ->> 'poster_name', comment.poster_id
          from page join comment on comment.repository = page.repository and comment.issue = page.number
          order by number`).all(repositoryId, after, limit)
        return people.map(({ account, ...person }) => ({ ...person, hasAccount: account !== null }))
      },

      attribute({ repositoryId, numbers, accounts }, context) {
        const prepare = on(context)
        const nameless = "poster_id is null and record ->> 'poster_name' = ?"
        const issues = prepare(`update issue set poster_id = ?
          where repository = ? and number in (select value from json_each(?)) and ${nameless}`)
        const comments = prepare(`update comment set poster_id = ?
          where repository = ? and issue in (select value from json_each(?)) and ${nameless}`)
        for (const [name, id] of accounts) {
          issues.run(id, repositoryId, JSON.stringify(numbers), name)
          comments.run(id, repositoryId, JSON.stringify(numbers), name)
        }
      },
    },
  }
}

/** Creates an issue as a user of the host does. */
export function createIssue(database, { repositoryId, title, posterId, name }) {
  const next = database.prepare(`insert into next_number values (?, 2)
    on conflict do update set number = number + 1 returning number - 1 as number`)
  const { number } = next.get(repositoryId)
  const now = new Date()
  const times = { created: now.toISOString(), updated: now.toISOString() }
  const person = { poster_id: posterId, poster_name: name }
  const record = { number, ...person, title, content: '', state: 'open', is_locked: false, ...times }
  const add = database.prepare('insert into issue values (?, ?, ?, ?, ?, ?)')
  add.run(repositoryId, number, title, posterId, now.getTime(), JSON.stringify(record))
  return number
}
