import { SERVER_KINDS } from '../databases.ts'
import { databaseSuite } from './database-suite.ts'

databaseSuite(SERVER_KINDS)
