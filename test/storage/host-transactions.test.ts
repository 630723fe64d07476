import { PGLITE, SQLITE } from '../databases.ts'
import { hostTransactions } from './host-transactions.ts'

hostTransactions([SQLITE, PGLITE])
