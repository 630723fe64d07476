import { SERVER_KINDS } from '../databases.ts'
import { hostTransactions } from './host-transactions.ts'

hostTransactions(SERVER_KINDS)
