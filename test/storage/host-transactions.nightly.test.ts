import { PGLITE } from '../databases.ts'
import { hostTransactions } from './host-transactions.ts'
import { LIBRARIES } from './library-kinds.ts'

hostTransactions([PGLITE, ...LIBRARIES])
