// The examples import the package by its name, and so what is built in dist/.

import { describe } from 'vitest'
import { onServer, POSTGRES, SERVERS } from '../databases.ts'
import { dropWatchesCases } from './drop-watches-cases.ts'
import { hostDatabase } from './host-databases.ts'
import { pinNewIssueCases } from './pin-new-issue-cases.ts'

onServer(SERVERS.postgres, (_url) => {
  const make = () => hostDatabase(POSTGRES)
  describe('examples/pin-new-issue-postgres.mjs', () => pinNewIssueCases('pin-new-issue-postgres.mjs', make))
  describe('examples/drop-watches-postgres.mjs', () => dropWatchesCases('drop-watches-postgres.mjs', make))
})
