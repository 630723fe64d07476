import type { ServiceName } from '../../src/http-adapters/http.ts'
import type { RouteRules } from './access-rules.ts'
import { badgeCases, badgeRules } from './cases/badge-cases.ts'
import { blockCases, blockRules } from './cases/block-cases.ts'
import type { Case } from './cases/case.ts'
import { everywhereCases } from './cases/everywhere-cases.ts'
import { exchangeCases, exchangeRules } from './cases/exchange-cases.ts'
import { pinCases, pinRules } from './cases/pin-cases.ts'
import { signingKeyCases, signingKeyRules } from './cases/signing-key-cases.ts'

/** What is known of the wire of each service: its cases, and who may call its routes. */
const SECTIONS: Readonly<Record<ServiceName | 'everywhere', readonly [cases: readonly Case[], rules: RouteRules]>> = {
  everywhere: [everywhereCases, {}],
  pins: [pinCases, pinRules],
  blocks: [blockCases, blockRules],
  badges: [badgeCases, badgeRules],
  'signing-keys': [signingKeyCases, signingKeyRules],
  exchange: [exchangeCases, exchangeRules],
}

/** Every case of the wire, by service: run over dispatch, and over every adapter. */
export const cases: Readonly<Record<string, readonly Case[]>> = Object.fromEntries(
  Object.entries(SECTIONS).map(([section, [list]]) => [section, list]),
)

/** The rule of each route, by its operation. */
export const RULES: RouteRules = Object.assign({}, ...Object.values(SECTIONS).map(([, rules]) => rules))
