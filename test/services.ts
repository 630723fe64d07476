import type { ServiceName } from '../src/http-adapters/http.ts'
import type { AskingMethod } from './core/asking.ts'
import { badgeMethods } from './core/badges/badge-methods.ts'
import { blockMethods } from './core/blocks/block-methods.ts'
import { exchangeMethods } from './core/exchange/exchange-methods.ts'
import { pinMethods } from './core/pins/pin-methods.ts'
import { signingKeyMethods } from './core/signing-keys/signing-key-methods.ts'
import type { RouteRules } from './http-adapters/access-rules.ts'
import { badgeCases, badgeRules } from './http-adapters/cases/badge-cases.ts'
import { blockCases, blockRules } from './http-adapters/cases/block-cases.ts'
import type { Case } from './http-adapters/cases/case.ts'
import { everywhereCases } from './http-adapters/cases/everywhere-cases.ts'
import { exchangeCases, exchangeRules } from './http-adapters/cases/exchange-cases.ts'
import { pinCases, pinRules } from './http-adapters/cases/pin-cases.ts'
import { signingKeyCases, signingKeyRules } from './http-adapters/cases/signing-key-cases.ts'

/** What tests know of a service. */
interface ServiceSection {
  /** The cases of its wire. */
  readonly cases: readonly Case[]
  /** Who may call its routes. */
  readonly rules: RouteRules
  /** Its methods that ask the policy. */
  readonly methods: readonly AskingMethod[]
}

const SECTIONS: Readonly<Record<ServiceName | 'everywhere', ServiceSection>> = {
  everywhere: { cases: everywhereCases, rules: {}, methods: [] },
  pins: { cases: pinCases, rules: pinRules, methods: pinMethods },
  blocks: { cases: blockCases, rules: blockRules, methods: blockMethods },
  badges: { cases: badgeCases, rules: badgeRules, methods: badgeMethods },
  'signing-keys': { cases: signingKeyCases, rules: signingKeyRules, methods: signingKeyMethods },
  exchange: { cases: exchangeCases, rules: exchangeRules, methods: exchangeMethods },
}

/** Every case of the wire, by service: run over dispatch, and over every adapter. */
export const cases: Readonly<Record<string, readonly Case[]>> = Object.fromEntries(
  Object.entries(SECTIONS).map(([section, { cases: list }]) => [section, list]),
)

/** The rule of each route, by its operation. */
export const RULES: RouteRules = Object.assign({}, ...Object.values(SECTIONS).map(({ rules }) => rules))

/** Every method of a service that asks the policy. */
export const methods: readonly AskingMethod[] = Object.values(SECTIONS).flatMap((section) => section.methods)
