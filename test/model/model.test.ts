import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { memoryStorage } from '../../src/storage/memory.ts'
import { sqliteStorage } from '../../src/storage/sqlite.ts'
import { ForgeUnderTest } from './forge-under-test.ts'
import { modelSuite } from './model-suite.ts'

const folder = mkdtempSync(join(tmpdir(), 'forgelet-model-'))
let files = 0

afterAll(() => rmSync(folder, { recursive: true }))

modelSuite('memory', () => new ForgeUnderTest(memoryStorage()), 100)
modelSuite('a SQLite file', () => new ForgeUnderTest(sqliteStorage(join(folder, `${files++}.sqlite`))), 20)
