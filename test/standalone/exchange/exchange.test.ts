import { SQLITE } from '../../databases.ts'
import { exchangeSuite } from './exchange-suite.ts'

exchangeSuite([SQLITE])
