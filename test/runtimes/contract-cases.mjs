// The published contract of storages, on storages over handles of one driver or over file names.
import { World } from './worlds.mjs'

const TEXT_IDS = { ids: { user: 'text', organization: 'text', repository: 'text', issue: 'text' } }

/** Each storage has a handle of its own on a file, and each transaction of the host's another. */
export function handleCases(parts) {
  return contractOn(parts, 'file', 'handles on files', (world, place) => world.open(place))
}

/** Storages are made of file names, and the transactions of the host's have handles. */
export function fileNameCases(parts) {
  return contractOn(parts, 'file', 'file names', (_world, place) => place)
}

/** Storage and host share the one connection there is. */
export function memoryCases(parts) {
  return contractOn(parts, ':memory:', 'handles in memory', (world) => world.open())
}

/** @param databaseIn - gives what a storage is made of: a handle or a file name */
function contractOn(parts, where, title, databaseIn) {
  let world
  const known = new WeakMap()

  const over = async (place, database, options) => {
    const storage = await world.migrated(database, options)
    known.set(storage, { place, database })
    return storage
  }
  const openAt = (place, options) => over(place, databaseIn(world, place), options)
  const fresh = (options) => openAt(world.newPlace(), options)
  const beside = (storage) => over(known.get(storage).place, known.get(storage).database, { prefix: 'beside_' })
  const begin = (how) => (storage) => {
    const { place, database } = known.get(storage)
    return transactionOn(where === 'file' ? world.open(place) : database, how)
  }
  const onFiles = { again: (storage) => openAt(known.get(storage).place), beginSnapshot: begin('begin') }
  const host = { beside, begin: begin('begin immediate'), textIds: () => fresh(TEXT_IDS) }

  const cases = parts.forgelet.storageContract(() => fresh(), where === 'file' ? { ...host, ...onFiles } : host)
  return cases.map(({ name, run }) => ({
    name: `${title}: ${name}`,
    async run() {
      world = new World({ ...parts, where })
      try {
        await run()
      } finally {
        await world.end()
      }
    },
  }))
}

function transactionOn(handle, how) {
  handle.exec(how)
  return { transaction: handle, commit: () => void handle.exec('commit'), rollback: () => void handle.exec('rollback') }
}
