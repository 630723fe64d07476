// The issues of a host on Kysely, for the import and export of issues: createForge({ issues: createTracker(kysely) }).
// A Gitea-like host has more columns; the queries stay the same. Names of people are kept as text, beside their accounts.

/** The tables of the host, on PostgreSQL. */
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
export function createTracker(kysely) {
  const records = (rows) => rows.map(({ record }) => JSON.parse(record))

  /** Returns how to read the records of a repository, in the transaction or outside of one. */
  const recordsOf = ({ transaction = kysely }, table, repositoryId) =>
    transaction.selectFrom(table).select('record').where('repository', '=', repositoryId)

  return {
    async issues(query, context) {
      const ordered = recordsOf(context, 'issue', query.repositoryId).orderBy('number')
      const found =
        'numbers' in query
          ? await ordered.where('number', 'in', query.numbers).execute()
          : await ordered.where('number', '>', query.after).limit(query.limit).execute()
      const all = records(await recordsOf(context, 'label', query.repositoryId).execute())
      const named = new Map(all.map((label) => [label.name, label]))
      return records(found).map(({ labels, ...issue }) =>
        labels ? { ...issue, labels: labels.map((name) => named.get(name)) } : issue,
      )
    },

    async comments({ repositoryId, numbers }, context) {
      const found = recordsOf(context, 'comment', repositoryId).where('issue', 'in', numbers)
      return records(await found.orderBy('issue').orderBy('created_at').orderBy('id').execute())
    },

    async labelsAndMilestones({ repositoryId }, context) {
      const all = async (table) => records(await recordsOf(context, table, repositoryId).execute())
      return { labels: await all('label'), milestones: await all('milestone') }
    },

    async findUsers(users, { transaction = kysely }) {
      const names = users.map(({ name }) => name)
      const rows = await transaction.selectFrom('user').select(['id', 'name']).where('name', 'in', names).execute()
      const ids = new Map(rows.map(({ id, name }) => [name, String(id)]))
      return names.map((name) => ids.get(name))
    },

    async write(batch, { transaction }) {
      const { repositoryId: repository, labels, milestones, create, update, comments } = batch
      const insert = (table, row) => transaction.insertInto(table).values({ repository, ...row })
      const replace = (table, record) =>
        transaction
          .updateTable(table)
          .set({ record: JSON.stringify(record) })
          .where('repository', '=', repository)

      // The number first: a user who creates an issue meanwhile waits for the end of the import's transaction.
      const numbers = [...create, ...update].map(({ record }) => record.number)
      await raise(transaction, repository, Math.max(0, ...numbers) + 1)

      const add = (table, row) => insert(table, row).onConflict((conflict) => conflict.doNothing())
      for (const label of labels) await add('label', { name: label.name, record: JSON.stringify(label) }).execute()
      for (const milestone of milestones) {
        await add('milestone', { title: milestone.title, record: JSON.stringify(milestone) }).execute()
      }

      for (const label of batch.labelUpdates) await replace('label', label).where('name', '=', label.name).execute()
      for (const milestone of batch.milestoneUpdates) {
        await replace('milestone', milestone).where('title', '=', milestone.title).execute()
      }

      const columns = ({ record, posterId, createdAt }) => {
        const kept = record.labels ? { ...record, labels: record.labels.map(({ name }) => name) } : record
        const { number, title } = record
        return { number, title, poster_id: posterId, created_at: createdAt.getTime(), record: JSON.stringify(kept) }
      }
      // If a user has taken a number since the issues were read, the key refuses the batch.
      for (const issue of create) await insert('issue', columns(issue)).execute()
      for (const issue of update) {
        const replaced = transaction.updateTable('issue').set(columns(issue)).where('repository', '=', repository)
        await replaced.where('number', '=', issue.record.number).execute()
      }

      for (const { record, posterId, createdAt } of comments) {
        const written = { issue: record.issue_number, poster_id: posterId, created_at: createdAt.getTime() }
        await insert('comment', { ...written, record: JSON.stringify(record) }).execute()
      }
      // A comment has no number: it is found by what it was.
      for (const { record, previous } of batch.commentUpdates) {
        const found = replace('comment', record).where('issue', '=', record.issue_number)
        await found.where('record', '=', JSON.stringify(previous)).execute()
      }
    },

    reserveNumbers: ({ repositoryId, upTo }, { transaction }) => raise(transaction, repositoryId, upTo + 1),
  }
}

/** Raises the next number of a repository. */
async function raise(transaction, repository, number) {
  const next = transaction.insertInto('next_number').values({ repository, number })
  const raised = next.onConflict((conflict) =>
    conflict
      .column('repository')
      .doUpdateSet((row) => ({ number: row.ref('excluded.number') }))
      .whereRef('next_number.number', '<', 'excluded.number'),
  )
  await raised.execute()
}

/** Creates an issue as a user of the host does, in a transaction. */
export async function createIssue(transaction, { repositoryId: repository, title, posterId, name }) {
  const next = transaction.insertInto('next_number').values({ repository, number: 2 })
  const raised = next.onConflict((conflict) =>
    conflict.column('repository').doUpdateSet((row) => ({ number: row('next_number.number', '+', 1) })),
  )
  const row = await raised.returning('number').executeTakeFirstOrThrow()
  const number = Number(row.number) - 1
  const now = new Date()
  const times = { created: now.toISOString(), updated: now.toISOString() }
  const person = { poster_id: posterId, poster_name: name }
  const record = { number, ...person, title, content: '', state: 'open', is_locked: false, ...times }
  const issue = { repository, number, title, poster_id: posterId, created_at: now.getTime() }
  await transaction
    .insertInto('issue')
    .values({ ...issue, record: JSON.stringify(record) })
    .execute()
  return number
}
