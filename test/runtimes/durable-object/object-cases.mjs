// What is special to the storage of a Durable Object: its transactions, its numbers, its end. Source: docs/databases.md
import assert from 'node:assert/strict'
import { createForge } from 'forgelet'
import { durableObjectStorage } from 'forgelet/storage/durable-object'

const olga = { id: 1 }
const board = { repositoryId: 10, kind: 'issue' }
const issue = (id) => ({ id, ...board })

const FACTS = {
  'a transaction inside the host’s takes our writes back with it': async (host) => {
    const forge = await host.forge()
    const pin = (id) => forge.withTransactionSync(host.database, (services) => services.pins.pin(olga, issue(id)))
    const thinksAgain = () => {
      pin(2)
      throw new Error('no')
    }
    host.database.transactionSync(() => {
      pin(1)
      assert.throws(() => host.database.transactionSync(thinksAgain), /no/)
      pin(3)
    })

    assert.deepEqual(await pinned(forge), ['1', '3'])
  },

  'a call outside withTransaction is not part of the host’s open transaction': async (host) => {
    const forge = await host.forge()
    const plain = []
    const work = () => {
      forge.withTransactionSync(host.database, (services) => services.pins.pin(olga, issue(1)))
      plain.push(forge.pins.pin(olga, issue(2)), pinned(forge))
      throw new Error('the host thinks again')
    }

    assert.throws(() => host.database.transactionSync(work), /thinks again/)
    const [pin, list] = await Promise.all(plain)
    assert.deepEqual([pin.issueId, list, await pinned(forge)], ['2', ['2'], ['2']])
  },

  'outside of a transaction of the host, withTransactionSync takes back what is refused': async (host) => {
    const forge = await host.forge({ limits: { maxPins: { issue: 1 } } })
    forge.withTransactionSync(host.database, (services) => {
      services.pins.pin(olga, issue(1))
      assert.throws(() => services.pins.pin(olga, issue(2)), { code: 'PIN_LIMIT_REACHED' })
    })

    assert.deepEqual(await pinned(forge), ['1'])
  },

  'what a beforeCommit leaves half read stops nothing': async (host) => {
    const left = []
    const forge = await host.forge({
      beforeCommit(_events, { sql }) {
        left.push(sql.exec('select 1 as one union select 2'))
        left.at(-1).next()
      },
    })
    for (const id of [1, 2]) await forge.pins.pin(olga, issue(id))

    assert.deepEqual(await pinned(forge), ['1', '2'])
  },

  'a statement that the object refuses takes its change back': async (host) => {
    const forge = await host.forge({
      beforeCommit(_events, { sql }) {
        sql.exec('commit')
      },
    })

    await assert.rejects(forge.pins.pin(olga, issue(1)))
    assert.deepEqual(await pinned(forge), [])
  },

  'tables that are not there are SCHEMA_OUTDATED, and not made': async (host) => {
    const storage = durableObjectStorage(host.database)
    await assert.rejects(host.over(storage).pins.pin(olga, issue(1)), { code: 'SCHEMA_OUTDATED' })

    assert.equal((await storage.schemaStatus()).state, 'empty')
    assert.deepEqual(host.column("select name as one from sqlite_master where name like 'forgelet%'"), [])
  },

  'the storage of another object, or none, is a TypeError': async (host) => {
    const forge = await host.forge()
    for (const other of [{ ...host.database }, undefined, {}, host.database.sql]) {
      assert.throws(() => forge.withTransactionSync(other, () => undefined), TypeError)
    }
  },
}

/** Each fact with what checks it on an object of its own. */
export const objectCases = Object.entries(FACTS).map(([name, check]) => ({
  name,
  run: ({ storage }) => check(new Host(storage)),
}))

/** A host: a table of its own in the object that the forge keeps its data in. */
class Host {
  constructor(database) {
    this.database = database
    database.sql.exec('create table issue (id integer primary key, title text not null)')
  }

  /** A forge where everyone may do everything, over a migrated storage. */
  async forge(options = {}) {
    const storage = durableObjectStorage(this.database)
    await storage.migrate()
    assert.equal((await storage.schemaStatus()).state, 'current')
    return this.over(storage, options)
  }

  over(storage, options = {}) {
    const policy = { authorize: () => ({ allow: true }) }
    return createForge({
      storage,
      policy,
      limits: { maxPins: { issue: 10 } },
      membership: { isMember: () => false },
      ...options,
    })
  }

  column(sql) {
    return this.database.sql
      .exec(sql)
      .toArray()
      .map(({ one }) => one)
  }
}

async function pinned(forge) {
  return (await forge.pins.list(olga, board)).map((pin) => pin.issueId)
}
