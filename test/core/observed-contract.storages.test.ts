import { sqliteMemoryKind } from '../storage/databases/sqlite.ts'
import { observedContract } from './observed-contract.ts'

observedContract(sqliteMemoryKind())
