import { describe } from 'vitest'
import { memoryKind } from '../storage/databases/memory.ts'
import { sqliteFileKind } from '../storage/databases/sqlite.ts'
import { textsOn } from './texts-suite.ts'

describe('in memory', () => textsOn(memoryKind()))
describe('in a SQLite file', () => textsOn(sqliteFileKind()))
