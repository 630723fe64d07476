import { SQLITE } from '../../databases.ts'
import { onHostDatabases } from '../host-databases.ts'
import { exchangeSuite } from './exchange-suite.ts'
import { exchangeWorld } from './exchange-world.ts'

onHostDatabases([SQLITE], (open) => exchangeSuite(() => open(exchangeWorld)))
