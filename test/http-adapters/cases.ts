import type { ServiceName } from '../../src/http-adapters/http.ts'
import { userBadges } from './cases/badge-cases.ts'
import { blockCases } from './cases/block-cases.ts'
import type { Case } from './cases/case.ts'
import { everywhereCases } from './cases/everywhere-cases.ts'
import { exchangeCases } from './cases/exchange-cases.ts'
import { pinCases } from './cases/pin-cases.ts'
import { signingKeyCases } from './cases/signing-key-cases.ts'

/** Every case of the wire, by service: run over dispatch, and over every adapter. */
export const cases: Readonly<Record<ServiceName | 'everywhere', readonly Case[]>> = {
  everywhere: everywhereCases,
  pins: pinCases,
  blocks: blockCases,
  badges: userBadges,
  'signing-keys': signingKeyCases,
  exchange: exchangeCases,
}
