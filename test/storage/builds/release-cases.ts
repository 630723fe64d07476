import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { ForgeStorage } from '../../../src/storage/contract/storage.ts'
import { ALL_MIGRATIONS } from '../../../src/storage/sql/schema/all-migrations.ts'
import { BOARD, pin, unpin } from '../../../src/testing/storage-contract/cases/sample-changes.ts'
import type { BuiltLibrary } from './build-library.ts'
import { buildLibrary, removeBuild } from './build-library.ts'
import { NEXT_MAJOR, NEXT_MINOR, PREVIOUS, THIS } from './migration-lists.ts'

// Builds of this library as other releases have it, on one database.

/** A release of the library, as seen from this one. */
export type Release = 'previous' | 'this' | 'nextMinor' | 'nextMajor'

/** Every release, built. */
export type Releases = { readonly [R in Release]: BuiltLibrary }

/** Builds every release before the tests of a file; returns how to get them in a test. */
export function buildReleases(): () => Releases {
  let releases: Releases

  beforeAll(async () => {
    releases = {
      previous: await buildLibrary('previous', PREVIOUS),
      this: await buildLibrary('this', THIS),
      nextMinor: await buildLibrary('next-minor', NEXT_MINOR),
      nextMajor: await buildLibrary('next-major', NEXT_MAJOR),
    }
  })

  afterAll(() => {
    for (const release of Object.values(releases)) removeBuild(release)
  })

  return () => releases
}

/** Opens a storage of a release on the one database of a test, closed when the test ends. */
export type Open = (release: Release) => ForgeStorage

/** Closes a storage when the test ends. */
export function closing(storage: ForgeStorage): ForgeStorage {
  onTestFinished(() => storage.close())
  return storage
}

/** Defines the tests of several releases on one database. */
export function releaseCases(open: () => Promise<Open> | Open): void {
  test('this release brings a database of the previous up to date, which goes on changing it all the while', async () => {
    const storageOf = await open()
    const previous = storageOf('previous')
    await previous.migrate()
    const ours = storageOf('this')
    await expect(pin(ours, BOARD, '1')).rejects.toMatchObject({ code: 'SCHEMA_OUTDATED' })

    const changes = changing(previous, '1')
    await ours.migrate()
    await Promise.all([changing(ours, '2').ended(50), changes.ended(50)])
    expect(await ours.schemaStatus()).toMatchObject({ state: 'current' })
    expect(await previous.schemaStatus()).toMatchObject({ state: 'current' })
    expect((await ours.pinBoards.load(BOARD)).map(({ issueId }) => issueId).sort()).toEqual(['1', '2'])
  })

  test('a minor release after this one leaves the database to this one too', async () => {
    const storageOf = await open()
    const ours = storageOf('this')
    await ours.migrate()
    const changes = changing(ours, '1')
    const next = storageOf('nextMinor')
    await next.migrate()
    const fresh = storageOf('this')
    await fresh.migrate()

    await Promise.all([changing(next, '2').ended(20), changing(fresh, '3').ended(20), changes.ended(20)])
    expect(await fresh.schemaStatus()).toMatchObject({ state: 'current' })
    expect(await next.schemaStatus()).toMatchObject({ state: 'current' })
  })

  test('a major release after this one closes the database to this one', async () => {
    const storageOf = await open()
    await storageOf('this').migrate()
    await storageOf('nextMajor').migrate()
    const ours = storageOf('this')
    const found = ALL_MIGRATIONS.length + 1
    const refusal = { code: 'SCHEMA_TOO_NEW', details: { found, oldestLibrary: found } }

    await expect(pin(ours, BOARD, '1')).rejects.toMatchObject(refusal)
    await expect(ours.migrate()).rejects.toMatchObject(refusal)
    expect(await ours.schemaStatus()).toMatchObject({ state: 'too-new' })
    expect(await pin(storageOf('nextMajor'), BOARD, '1')).toBe(1)
  })
}

/** Pins and unpins an issue, again and again, until it is stopped after so many times; ends with it pinned. */
function changing(storage: ForgeStorage, issueId: string): { ended(times: number): Promise<void> } {
  let atLeast = Number.POSITIVE_INFINITY
  const work = (async () => {
    for (let count = 0; count < atLeast; count += 1) {
      await unpin(storage, BOARD, issueId)
      await pin(storage, BOARD, issueId)
    }
  })()
  return {
    ended(times) {
      atLeast = times
      return work
    },
  }
}
