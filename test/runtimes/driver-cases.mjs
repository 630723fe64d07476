// What SQLite drivers do each in their own way, and a storage must not show: how they report an open transaction, run savepoints
// and fail, read integers, open and close. Sources: docs/storage.md, sections 3 and 4, and what the drivers did when they were asked.
import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { inTransaction } from './drivers.mjs'
import { World } from './worlds.mjs'

const olga = { id: 1 }
const board = { repositoryId: 10, kind: 'issue' }
const issue = (id) => ({ id, ...board })

const BEYOND_DOUBLE = '9223372036854775807'
const CLOSED = { code: 'STORAGE_UNAVAILABLE', message: 'the handle is closed' }

const ON_FILES = {
  'entering a deferred transaction keeps other writers out': async (host) => {
    const forge = await host.forge()
    const other = host.another()
    host.handle.exec('begin')
    forge.withTransactionSync(host.handle, () => undefined)

    assert.throws(() => other.exec('begin immediate'), /locked/)
    host.handle.exec('commit')
    other.exec('begin immediate; rollback')
  },

  'a transaction that cannot have the write lock is STORAGE_BUSY, and the host runs it again': async (host) => {
    const forge = await host.forge()
    const other = host.another()
    other.exec('begin immediate')
    host.handle.exec('begin')
    assert.throws(() => forge.withTransactionSync(host.handle, () => undefined), busyForTheHost)
    other.exec('rollback')
    host.handle.exec('rollback')
    inTransaction(host.handle, () => pinInside(forge, host.handle, 1))

    assert.deepEqual(await pinned(forge), ['1'])
  },

  'a handle that may only read cannot be used, and plain changes do not need it': async (host) => {
    await host.forge()
    const reading = host.world.open(host.place, { readOnly: true })
    const forge = host.forgeOver(host.world.storage(reading))
    reading.exec('begin')
    assert.throws(() => forge.withTransactionSync(reading, () => undefined), {
      code: 'STORAGE_UNAVAILABLE',
      message: 'the database cannot be written',
    })
    reading.exec('rollback')
    await forge.pins.pin(olga, issue(1))

    assert.deepEqual(await pinned(forge), ['1'])
  },

  'our writer syncs every commit, keeps foreign keys, writes no temporary file, and never lets SQLite wait': async (
    host,
  ) => {
    const settings = {}
    const forge = await host.forge({
      beforeCommit(_events, transaction) {
        for (const name of ['synchronous', 'foreign_keys', 'busy_timeout', 'journal_mode', 'temp_store']) {
          settings[name] = Object.values(transaction.prepare(`pragma ${name}`).all()[0])[0]
        }
      },
    })
    await forge.pins.pin(olga, issue(1))

    assert.deepEqual(settings, { synchronous: 2, foreign_keys: 1, busy_timeout: 0, journal_mode: 'wal', temp_store: 2 })
  },

  'closed, the file is whole without its side files': async (host) => {
    const forge = await host.forge()
    await forge.pins.pin(olga, issue(1))
    inTransaction(host.handle, () => pinInside(forge, host.handle, 2))
    await pinned(forge)
    await host.storage.schemaStatus()
    host.handle.close() // on Bun it lives on until the last statement is finalized
    await forge.close()

    assert.deepEqual([existsSync(host.place), existsSync(`${host.place}-wal`)], [true, false])
  },

  'a file that was named from another folder is the same when the process goes elsewhere': async (host) => {
    const before = process.cwd()
    process.chdir(dirname(host.place))
    try {
      const forge = await host.forge({}, host.world.open(basename(host.place)))
      process.chdir(before)
      await forge.pins.pin(olga, issue(1))
    } finally {
      process.chdir(before)
    }

    assert.deepEqual(host.pins(), ['1'])
  },

  'a statement that a beforeCommit left writing refuses its batch, and the next is well': async (host) => {
    const left = []
    const forge = await host.forge({
      beforeCommit([event], transaction) {
        if (event.issueId === '2') left.push(write(transaction))
      },
    })
    const outcomes = await Promise.allSettled([1, 2, 3].map((id) => forge.pins.pin(olga, issue(id))))
    await forge.pins.pin(olga, issue(4))

    assert.match(outcomes[1].reason.message, /beforeCommit must leave its transaction/)
    assert.deepEqual([await pinned(forge), host.titles()], [[...answered(outcomes), '4'], []])
  },

  'a file that is no database is STORAGE_UNAVAILABLE': async (host) => {
    const file = host.world.newPlace()
    writeFileSync(file, 'no database at all, and long enough to be read. '.repeat(100))
    const storage = host.world.storage(host.world.keep(new host.world.driver.Database(file)))

    await assert.rejects(storage.migrate(), {
      code: 'STORAGE_UNAVAILABLE',
      message: 'the file is not an SQLite database',
    })
  },

  'a file that may not grow is STORAGE_UNAVAILABLE, and what was answered is there': async (host) => {
    const { Database } = host.world.driver
    class Small extends Database {
      constructor(file) {
        super(file)
        this.exec('pragma max_page_count = 70')
      }
    }
    const forge = await host.forge({}, host.world.keep(new Small(host.place)))
    const kept = []
    const block = (id) => ({ organizationId: 5, account: { kind: 'user', id }, note: 'n'.repeat(255) })
    const fill = async () => {
      for (let id = 10; ; id += 1) {
        await forge.blocks.block(olga, block(id))
        kept.push(String(id))
      }
    }

    await assert.rejects(fill(), { code: 'STORAGE_UNAVAILABLE', message: 'the disk is full' })
    const { total } = await forge.blocks.list(olga, { organizationId: 5, page: 1, limit: 1 })
    assert.ok(kept.length > 0)
    assert.equal(total, kept.length)
  },
}

const EVERYWHERE = {
  'a savepoint of the host’s takes our writes back with it': async (host) => {
    const forge = await host.forge()
    const pin = (id) => pinInside(forge, host.handle, id)
    inTransaction(host.handle, () => {
      pin(1)
      host.handle.exec('savepoint hosts')
      pin(2)
      host.handle.exec('rollback to hosts; release hosts')
      pin(3)
    })

    assert.deepEqual(await pinned(forge), ['1', '3'])
  },

  'a closed handle is STORAGE_UNAVAILABLE': async (host) => {
    const forge = await host.forge()
    inTransaction(host.handle, () => pinInside(forge, host.handle, 1))
    host.handle.close()

    assert.throws(() => pinInside(forge, host.handle, 2), CLOSED)
  },

  'ids beyond 2^53 are written, whatever the driver makes of the last rowid': async (host) => {
    const forge = await host.forge()
    await forge.lifecycle.issueDeleted(issue(BEYOND_DOUBLE))
    host.handle.exec(`insert into issue (id, title) values (${BEYOND_DOUBLE}, 'last')`)
    await forge.pins.pin(olga, issue('9223372036854775806'))
    host.handle.exec('begin immediate')
    forge.withTransactionSync(host.handle, (services) => {
      services.lifecycle.issueDeleted(issue('9223372036854775805'))
      services.pins.pin(olga, issue('9223372036854775804'))
    })
    host.handle.exec('commit')

    assert.deepEqual(await pinned(forge), ['9223372036854775806', '9223372036854775804'])
    for (const id of [BEYOND_DOUBLE, '9223372036854775805']) {
      await assert.rejects(forge.pins.pin(olga, issue(id)), { code: 'ISSUE_NOT_FOUND' })
    }
  },

  'a handle that reads whole numbers as bigint decides as others do': async (host) => {
    const handle = host.world.open(host.world.newPlace(), { bigints: true })
    const forge = await host.forge({ limits: { maxPins: { issue: 2 } } }, handle)
    await forge.pins.pin(olga, issue(1))
    inTransaction(handle, () => {
      forge.withTransactionSync(handle, (services) => {
        services.pins.pin(olga, issue(2))
        assert.throws(() => services.pins.pin(olga, issue(3)), { code: 'PIN_LIMIT_REACHED' })
        assert.deepEqual(
          services.pins.list(olga, board).map(({ position }) => position),
          [1, 2],
        )
      })
    })

    assert.deepEqual(await pinned(forge), ['1', '2'])
    assert.equal((await host.storage.schemaStatus()).state, 'current')
  },

  'a statement that the host left writing refuses withTransactionSync, until it has ended': async (host) => {
    const forge = await host.forge()
    host.handle.exec('begin immediate')
    const rows = write(host.handle)
    const change = () => pinInside(forge, host.handle, 1)

    assert.throws(change, (error) => error instanceof TypeError && /busy with another statement/.test(error.message))
    rows.return()
    change()
    host.handle.exec('commit')
    assert.deepEqual([await pinned(forge), host.titles().length], [['1'], 2])
  },

  'a handle that was closed before its first use is STORAGE_UNAVAILABLE': async (host) => {
    const storage = host.world.storage(host.handle)
    host.handle.close()

    await assert.rejects(storage.migrate(), CLOSED)
    await assert.rejects(storage.schemaStatus(), CLOSED)
  },
}

const IN_MEMORY = {
  'the one connection there is, closed by the host, is STORAGE_UNAVAILABLE': async (host) => {
    const forge = await host.forge()
    await forge.pins.pin(olga, issue(1))
    host.handle.close()

    await assert.rejects(forge.pins.pin(olga, issue(2)), CLOSED)
    await assert.rejects(pinned(forge), CLOSED)
  },
}

/** What node:sqlite alone has. */
const OF_NODE = {
  'a handle that is not open yet can be used once it is': async (host) => {
    const handle = host.world.keep(new host.world.driver.Database(host.place, { open: false }))
    const storage = host.world.storage(handle)
    await assert.rejects(storage.migrate(), CLOSED)
    handle.open()
    const forge = await host.forge({}, handle)
    inTransaction(handle, () => pinInside(forge, handle, 1))

    assert.deepEqual(host.pins(), ['1'])
  },
}

/** What node:sqlite has since Node 24. */
const OF_NODE_24 = {
  'a handle that was opened by a URI is one on that file': async (host) => {
    for (const [id, place] of [`file:${host.place}?cache=private`, new URL(`file://${host.place}`)].entries()) {
      const forge = await host.forge({}, host.world.open(place))
      await forge.pins.pin(olga, issue(id))
      inTransaction(host.handle, () => pinInside(forge, host.handle, id + 10))
    }

    assert.deepEqual(host.pins(), ['0', '10', '1', '11'])
  },

  'a handle that gives rows as arrays is a TypeError that says so': async (host) => {
    const handle = host.world.keep(new host.world.driver.Database(host.place, { returnArrays: true }))

    await assert.rejects(host.world.storage(handle).migrate(), /objects by column name/)
  },
}

/** The cases that apply to the driver, on databases in files and in memory. */
export function driverCases(parts) {
  const onFiles = { ...EVERYWHERE, ...ON_FILES, ...ofNode(parts.driver.name) }
  const inMemory = { ...EVERYWHERE, ...IN_MEMORY }
  return [
    ...Object.entries(onFiles).map((one) => hostCase(parts, 'file', one)),
    ...Object.entries(inMemory).map((one) => hostCase(parts, ':memory:', one)),
  ]
}

function ofNode(driver) {
  if (driver !== 'node:sqlite') return {}
  return Number.parseInt(process.versions.node, 10) < 24 ? OF_NODE : { ...OF_NODE, ...OF_NODE_24 }
}

/** Pins in the open transaction of the host. */
function pinInside(forge, handle, id) {
  return forge.withTransactionSync(handle, (services) => services.pins.pin(olga, issue(id)))
}

async function pinned(forge) {
  return (await forge.pins.list(olga, board)).map((pin) => pin.issueId)
}

/** The issues of the pins that were answered: of those at once on a slow machine, some may be in an earlier batch. */
function answered(outcomes) {
  return outcomes.flatMap(({ status, value }) => (status === 'fulfilled' ? [value.issueId] : []))
}

/** Begins to write, and does not end. */
function write(handle) {
  const rows = handle.prepare("insert into issue (title) values ('one'), ('two') returning id").iterate()
  rows.next()
  return rows
}

function busyForTheHost(error) {
  assert.equal(error.code, 'STORAGE_BUSY')
  assert.deepEqual(error.details, { retry: 'host-transaction' })
  return true
}

/** Makes a case of a fact and what checks it on a host, with a database that is gone afterwards. */
function hostCase(parts, where, [name, check]) {
  return {
    name: `${where}: ${name}`,
    async run() {
      const world = new World({ ...parts, where })
      try {
        await check(new Host(world))
      } finally {
        await world.end()
      }
    },
  }
}

class Host {
  constructor(world) {
    this.world = world
    this.place = world.newPlace()
    this.handle = world.open(this.place)
    this.handle.exec('create table issue (id integer primary key, title text not null)')
  }

  /** A forge where everyone may do everything, over a migrated storage of this handle. */
  async forge(options = {}, handle = this.handle) {
    this.storage = await this.world.migrated(handle)
    return this.forgeOver(this.storage, options)
  }

  forgeOver(storage, options = {}) {
    const policy = { authorize: () => ({ allow: true }) }
    const limits = { maxPins: { issue: 10 } }
    return this.world.forgelet.createForge({
      storage,
      policy,
      limits,
      membership: { isMember: () => false },
      ...options,
    })
  }

  /** One more handle on the same file. */
  another() {
    return this.world.open(this.place)
  }

  titles() {
    return this.#column('select title as one from issue order by id')
  }

  /** The ids of the pinned issues, as a host reads them in its own database. */
  pins() {
    return this.#column('select cast(issue_id as text) as one from forgelet_pins order by position')
  }

  #column(sql) {
    const rows = this.handle.prepare(sql).all()
    return rows.map(({ one }) => one)
  }
}
