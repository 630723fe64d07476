// Where the cases are run: databases of one driver, in files or in memory, which are gone when the case is over.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * A place for the databases of one case.
 *
 * @param where - 'file' or ':memory:'
 */
export class World {
  #folder = mkdtempSync(join(tmpdir(), 'forgelet-runtimes-'))
  #handles = []
  #storages = []
  #files = 0

  constructor({ driver, forgelet, where }) {
    this.driver = driver
    this.forgelet = forgelet
    this.where = where
  }

  /** A name for a database that is not there yet. */
  newPlace() {
    this.#files += 1
    return this.where === 'file' ? join(this.#folder, `forge-${this.#files}.sqlite`) : ':memory:'
  }

  /** A handle of the host. */
  open(place = this.newPlace(), options = {}) {
    return this.keep(this.driver.open(place, options))
  }

  /** Has a handle closed at the end. */
  keep(handle) {
    this.#handles.push(handle)
    return handle
  }

  /** A storage over a handle or a file name. */
  storage(database, options = {}) {
    const storage = this.forgelet.sqliteStorage(database, options)
    this.#storages.push(storage)
    return storage
  }

  /** A storage whose tables are there. */
  async migrated(database, options = {}) {
    const storage = this.storage(database, options)
    await storage.migrate()
    return storage
  }

  async end() {
    for (const storage of this.#storages) await storage.close()
    for (const handle of this.#handles) close(handle)
    rmSync(this.#folder, { recursive: true })
  }
}

function close(handle) {
  try {
    handle.close()
  } catch {
    // the case has closed it already
  }
}
