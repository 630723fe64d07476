import { hostTransactions } from './host-transactions.ts'
import { LIBRARIES } from './library-kinds.ts'

hostTransactions(LIBRARIES)
