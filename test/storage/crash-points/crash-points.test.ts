import { sqliteStorage } from '../../../src/storage/sqlite.ts'
import { sqliteInMemoryKind } from '../../databases.ts'
import { storageKind } from '../storage-kind.ts'
import { CrashPoint, crashEverywhere } from './crash-points.ts'

const crash = new CrashPoint()
const kind = sqliteInMemoryKind((fileOrHandle, options) =>
  sqliteStorage(typeof fileOrHandle === 'string' ? fileOrHandle : crash.watch(fileOrHandle), options),
)
crashEverywhere(crash, storageKind(kind))
