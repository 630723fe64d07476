// A host: a table of its own in the database that the forge keeps its data in.
import { World } from './worlds.mjs'

/** Makes a case of a fact and what checks it on a host, with a database that is gone afterwards. */
export function hostCase(parts, where, [name, check]) {
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

  write(title) {
    this.handle.prepare('insert into issue (title) values (?)').run(title)
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
