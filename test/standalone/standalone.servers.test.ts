import { SERVER_KINDS } from '../databases.ts'
import { exchangeSuite } from './exchange/exchange-suite.ts'
import { worldSuite } from './world-suite.ts'

worldSuite(SERVER_KINDS)
exchangeSuite(SERVER_KINDS)
