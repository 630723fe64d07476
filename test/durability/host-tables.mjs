// A host's own tables beside ours in one SQLite file, with ports that look into them and take their time: what a host
// does around forgelet when a user becomes a member or an issue is deleted.
import { setTimeout as sleep } from 'node:timers/promises'

/** Waits a little or not at all: microtasks, turns of the event loop, or milliseconds. */
export async function dawdle() {
  const dice = Math.random()
  if (dice < 0.3) return
  if (dice < 0.5) for (let n = Math.random() * 20; n > 0; n--) await null
  else if (dice < 0.8) for (let n = Math.random() * 4; n > 0; n--) await new Promise((done) => setImmediate(done))
  else await sleep(Math.random() * 3)
}

/** Waits long enough for something to come in between, more often than not. */
export async function linger() {
  await sleep(Math.random() * 5)
}

/** Makes the host's tables. */
export function makeHostTables(handle) {
  handle.exec(`
    create table if not exists members (organization_id text, user_id text, primary key (organization_id, user_id)) strict;
    create table if not exists issues (id text primary key, repository_id text) strict;`)
}

/** Ports that read the host's tables, and linger over their answers until these grow old. */
export function slowPorts(handle) {
  return {
    policy: {
      async authorize() {
        await dawdle()
        return { allow: true }
      },
    },
    membership: {
      async isMember({ organizationId, userId }) {
        const rows = handle.prepare('select 1 from members where organization_id = ? and user_id = ?')
        const found = rows.all(organizationId, userId).length > 0
        await linger()
        return found
      },
    },
  }
}

/** What the host and its users do in a race; each gives 'done' or the code of the refusal. */
export function actions(handle, forge, owner) {
  return {
    join: (organizationId, userId) =>
      ending(() =>
        inTransaction(handle, () => {
          handle.prepare('insert into members values (?, ?)').run(organizationId, userId)
          return forge.withTransactionSync(handle, (services) =>
            services.lifecycle.memberAdded({ organizationId, userId }),
          )
        }),
      ),
    block: (organizationId, userId) =>
      ending(() => forge.blocks.block(owner, { organizationId, account: { kind: 'user', id: userId } })),
    delete: (repositoryId, id) =>
      ending(() =>
        inTransaction(handle, () => {
          handle.prepare('delete from issues where id = ?').run(id)
          const issue = { id, repositoryId, kind: 'issue' }
          return forge.withTransactionSync(handle, (services) => services.lifecycle.issueDeleted(issue))
        }),
      ),
    pin: (repositoryId, id) =>
      ending(async () => {
        if (handle.prepare('select 1 from issues where id = ?').all(id).length === 0) return 'not there'
        await linger()
        await forge.pins.pin(owner, { id, repositoryId, kind: 'issue' })
      }),
  }
}

function inTransaction(handle, work) {
  handle
    .transaction(() => work())
    .immediate()
    .afterCommit()
}

async function ending(action) {
  await dawdle()
  try {
    return (await action()) === 'not there' ? 'ISSUE_NOT_FOUND' : 'done'
  } catch (error) {
    return error.code ?? String(error)
  }
}
