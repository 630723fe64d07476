import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, onTestFinished } from 'vitest'
import type { ForgeStorage } from '../../../src/storage/contract/storage.ts'
import type { Open } from './release-cases.ts'
import { buildReleases, closing, releaseCases } from './release-cases.ts'

const releases = buildReleases()

function onFile(): Open {
  const folder = mkdtempSync(join(tmpdir(), 'forgelet-releases-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return (release) => closing(releases()[release].sqliteStorage(join(folder, 'forge.sqlite')) as ForgeStorage<unknown>)
}

describe('on SQLite', () => releaseCases(onFile))
