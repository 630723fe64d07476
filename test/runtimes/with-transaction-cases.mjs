// withTransactionSync in a transaction of the host's on a handle of one driver. Source: docs/storage.md, section 3.
import assert from 'node:assert/strict'
import { inTransaction } from './drivers.mjs'
import { hostCase } from './hosts.mjs'

const olga = { id: 1 }
const board = { repositoryId: 10, kind: 'issue' }
const issue = (id) => ({ id, ...board })

const EVERYWHERE = {
  'the write of the host and ours are committed together': async (host) => {
    const forge = await host.forge()
    const { value } = inTransaction(host.handle, () => {
      host.write('Read this first')
      return forge.withTransactionSync(host.handle, (services) => services.pins.pin(olga, issue(7)))
    })

    assert.deepEqual([value.issueId, value.position], ['7', 1])
    assert.deepEqual([await pinned(forge), host.titles()], [['7'], ['Read this first']])
  },

  'our write is rolled back with the host': async (host) => {
    const forge = await host.forge()
    const work = () => {
      host.write('Draft')
      forge.withTransactionSync(host.handle, (services) => services.pins.pin(olga, issue(7)))
      throw new Error('the host thinks again')
    }

    assert.throws(() => inTransaction(host.handle, work), /thinks again/)
    assert.deepEqual([await pinned(forge), host.titles()], [[], []])
    assert.deepEqual((await forge.events.read()).events, [])
  },

  'a transaction is deferred or immediate': async (host) => {
    const forge = await host.forge()
    for (const [index, how] of ['begin', 'begin deferred', 'begin immediate', 'begin exclusive'].entries()) {
      host.handle.exec(how)
      forge.withTransactionSync(host.handle, (services) => services.pins.pin(olga, issue(index)))
      host.handle.exec('commit')
    }

    assert.deepEqual(await pinned(forge), ['0', '1', '2', '3'])
  },

  'a refused call is taken back alone': async (host) => {
    const forge = await host.forge({ limits: { maxPins: { issue: 1 } } })
    inTransaction(host.handle, () =>
      forge.withTransactionSync(host.handle, (services) => {
        services.pins.pin(olga, issue(1))
        assert.throws(() => services.pins.pin(olga, issue(2)), { code: 'PIN_LIMIT_REACHED' })
        host.write('and on')
      }),
    )

    assert.deepEqual([await pinned(forge), host.titles()], [['1'], ['and on']])
  },

  'a call whose beforeCommit throws is taken back alone, with what that wrote': async (host) => {
    const forge = await host.forge({
      beforeCommit([event], transaction) {
        assert.equal(transaction, host.handle)
        host.write(event.issueId)
        if (event.issueId === '2') throw new Error('not this one')
      },
    })
    inTransaction(host.handle, () =>
      forge.withTransactionSync(host.handle, (services) => {
        services.pins.pin(olga, issue(1))
        assert.throws(() => services.pins.pin(olga, issue(2)), /not this one/)
        services.pins.pin(olga, issue(3))
      }),
    )

    assert.deepEqual(
      [await pinned(forge), host.titles()],
      [
        ['1', '3'],
        ['1', '3'],
      ],
    )
  },

  'a savepoint of the host’s takes our writes back with it': async (host) => {
    const forge = await host.forge()
    const pin = (id) => forge.withTransactionSync(host.handle, (services) => services.pins.pin(olga, issue(id)))
    inTransaction(host.handle, () => {
      pin(1)
      host.handle.exec('savepoint hosts')
      pin(2)
      host.handle.exec('rollback to hosts; release hosts')
      pin(3)
    })

    assert.deepEqual(await pinned(forge), ['1', '3'])
  },

  'a handle outside a transaction is refused, and nothing is written': async (host) => {
    const forge = await host.forge()
    const pin = () => forge.withTransactionSync(host.handle, (services) => services.pins.pin(olga, issue(1)))

    assert.throws(pin, (error) => error instanceof TypeError && /not inside a transaction/.test(error.message))
    inTransaction(host.handle, () => undefined)
    assert.throws(pin, TypeError)
    assert.deepEqual(await pinned(forge), [])
  },

  'a handle of another database is refused': async (host) => {
    const forge = await host.forge()
    const other = host.world.open()

    assert.throws(
      () =>
        inTransaction(other, () => forge.withTransactionSync(other, (services) => services.pins.pin(olga, issue(1)))),
      (error) => error instanceof TypeError && /another database/.test(error.message),
    )
  },

  'a closed handle is STORAGE_UNAVAILABLE': async (host) => {
    const forge = await host.forge()
    inTransaction(host.handle, () =>
      forge.withTransactionSync(host.handle, (services) => services.pins.pin(olga, issue(1))),
    )
    host.handle.close()

    assert.throws(() => forge.withTransactionSync(host.handle, (services) => services.pins.pin(olga, issue(2))), {
      code: 'STORAGE_UNAVAILABLE',
      message: 'the handle is closed',
    })
  },

  'a port that answers with a promise is a TypeError before anything is written': async (host) => {
    const ports = [
      { policy: { authorize: async () => ({ allow: true }) } },
      { membership: { isMember: async () => false } },
    ]
    for (const port of ports) {
      const forge = await host.forge(port)
      inTransaction(host.handle, () =>
        forge.withTransactionSync(host.handle, (services) =>
          assert.throws(() => services.blocks.block(olga, target()), TypeError),
        ),
      )
      assert.deepEqual((await forge.events.read()).events, [])
    }
  },

  'a beforeCommit that answers with a promise is a TypeError, and its call is taken back': async (host) => {
    const forge = await host.forge({ beforeCommit: async () => undefined })
    inTransaction(host.handle, () =>
      forge.withTransactionSync(host.handle, (services) =>
        assert.throws(() => services.pins.pin(olga, issue(1)), TypeError),
      ),
    )

    assert.deepEqual(await pinned(forge), [])
  },

  'work that answers with a promise is a TypeError, and the host rolls back': async (host) => {
    const forge = await host.forge()
    const work = () =>
      forge.withTransactionSync(host.handle, async (services) => {
        services.pins.pin(olga, issue(1))
      })

    assert.throws(() => inTransaction(host.handle, work), TypeError)
    assert.deepEqual(await pinned(forge), [])
  },

  'a beforeCommit that changes the forge is a TypeError': async (host) => {
    let tried = 0
    const forge = await host.forge({
      beforeCommit(_events, transaction) {
        tried += 1
        const pin = () => forge.withTransactionSync(transaction, (services) => services.pins.pin(olga, issue(2)))
        assert.throws(pin, /beforeCommit must not change the forge/)
      },
    })
    inTransaction(host.handle, () =>
      forge.withTransactionSync(host.handle, (services) => services.pins.pin(olga, issue(1))),
    )

    assert.deepEqual([tried, await pinned(forge)], [1, ['1']])
  },

  'a plain change is refused while the host is inside its transaction': async (host) => {
    const forge = await host.forge()
    host.handle.exec('begin immediate')
    await assert.rejects(forge.pins.pin(olga, issue(1)), /use withTransactionSync/)
    host.handle.exec('rollback')
    await forge.pins.pin(olga, issue(2))

    assert.deepEqual(await pinned(forge), ['2'])
  },

  'ports read the rows of the host on the transaction': async (host) => {
    const seen = []
    const forge = await host.forge({
      policy: {
        authorize(_request, { transaction }) {
          seen.push(transaction.prepare('select title from issue').all())
          return { allow: true }
        },
      },
    })
    inTransaction(host.handle, () => {
      host.write('New')
      forge.withTransactionSync(host.handle, (services) => services.pins.pin(olga, issue(1)))
    })

    assert.deepEqual(
      seen.map((rows) => rows.map(({ title }) => title)),
      [['New']],
    )
  },

  'listeners are notified after the commit, and never of what was rolled back': async (host) => {
    const forge = await host.forge()
    const received = []
    forge.events.on((event) => received.push(`${event.type} ${event.issueId}`))
    host.handle.exec('begin immediate')
    const lost = forge.withTransactionSync(host.handle, (services) => services.pins.pin(olga, issue(1)))
    lost.afterCommit()
    host.handle.exec('rollback')
    host.handle.exec('begin immediate')
    const kept = forge.withTransactionSync(host.handle, (services) => services.pins.pin(olga, issue(2)))
    kept.afterCommit()
    assert.deepEqual(received, [])
    host.handle.exec('commit')
    lost.afterCommit()
    kept.afterCommit()

    assert.deepEqual(received, ['issue.pinned 2'])
  },
}

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
    inTransaction(host.handle, () =>
      forge.withTransactionSync(host.handle, (services) => services.pins.pin(olga, issue(1))),
    )

    assert.deepEqual(await pinned(forge), ['1'])
  },

  'a transaction that has read what others changed since is STORAGE_BUSY': async (host) => {
    const forge = await host.forge()
    host.handle.exec('begin')
    host.titles()
    host.another().exec("insert into issue (title) values ('theirs')")

    assert.throws(() => forge.withTransactionSync(host.handle, () => undefined), busyForTheHost)
  },

  'a plain read does not see what is not committed yet': async (host) => {
    const forge = await host.forge()
    host.handle.exec('begin immediate')
    forge.withTransactionSync(host.handle, (services) => services.pins.pin(olga, issue(1)))
    assert.deepEqual(await pinned(forge), [])
    host.handle.exec('commit')

    assert.deepEqual(await pinned(forge), ['1'])
  },

  'a plain change waits for the transaction of another handle': async (host) => {
    const forge = await host.forge()
    const other = host.another()
    other.exec('begin immediate')
    forge.withTransactionSync(other, (services) => services.pins.pin(olga, issue(1)))
    const waiting = forge.pins.pin(olga, issue(2))
    await new Promise((resolve) => setTimeout(resolve, 20))
    other.exec('commit')
    await waiting

    assert.deepEqual(await pinned(forge), ['1', '2'])
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
}

/** The cases, on a database in a file and on one in memory. */
export function withTransactionCases(parts) {
  const onFiles = Object.entries({ ...EVERYWHERE, ...ON_FILES }).map((one) => hostCase(parts, 'file', one))
  const inMemory = Object.entries(EVERYWHERE).map((one) => hostCase(parts, ':memory:', one))
  return [...onFiles, ...inMemory]
}

async function pinned(forge) {
  return (await forge.pins.list(olga, board)).map((pin) => pin.issueId)
}

function target() {
  return { organizationId: 5, account: { kind: 'user', id: 9 } }
}

function busyForTheHost(error) {
  assert.equal(error.code, 'STORAGE_BUSY')
  assert.deepEqual(error.details, { retry: 'host-transaction' })
  return true
}
