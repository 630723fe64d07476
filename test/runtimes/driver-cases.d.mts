import type * as front from '../../src/index.ts'
import type * as sqlite from '../../src/storage/sqlite.ts'

interface Parts {
  readonly forgelet: Pick<typeof front, 'createForge'> & Pick<typeof sqlite, 'sqliteStorage'>
  readonly driver: {
    readonly name: string
    readonly Database: new (file: string) => sqlite.SqliteHandle
    open(file: string, wanted?: { readonly readOnly?: boolean; readonly bigints?: boolean }): sqlite.SqliteHandle
  }
}

export function driverCases(parts: Parts): readonly { readonly name: string; run(): Promise<void> }[]
