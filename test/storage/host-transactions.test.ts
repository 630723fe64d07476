import { PGLITE, SQLITE, SQLITE_IN_MEMORY } from '../databases.ts'
import { hostTransactions } from './host-transactions.ts'

hostTransactions([SQLITE, SQLITE_IN_MEMORY])
// All of it, on databases that answer later, is in host-transactions.servers.test.ts, and on PGlite in the nightly one.
hostTransactions([PGLITE], 'short')
