import { readdirSync } from 'node:fs'
import type { AskingMethod } from './core/asking.ts'
import type { RouteRules } from './http-adapters/access-rules.ts'
import type { Case } from './http-adapters/cases/case.ts'

/** What tests know of a service. Each has a file in `services/`, and what is the same everywhere has one. */
export interface ServiceSection {
  /** The cases of its wire. */
  readonly cases: readonly Case[]
  /** Who may call its routes. */
  readonly rules: RouteRules
  /** Its methods that ask the policy. */
  readonly methods: readonly AskingMethod[]
}

const FOLDER = new URL('services/', import.meta.url)

const SECTIONS: readonly (readonly [service: string, ServiceSection])[] = await Promise.all(
  readdirSync(FOLDER).map(async (file) => {
    const { section }: { readonly section: ServiceSection } = await import(new URL(file, FOLDER).href)
    return [file.replace('.ts', ''), section] as const
  }),
)

/** Every case of the wire, by service: run over dispatch, and over every adapter. */
export const cases: Readonly<Record<string, readonly Case[]>> = Object.fromEntries(
  SECTIONS.map(([service, section]) => [service, section.cases]),
)

/** The rule of each route, by its operation. */
export const RULES: RouteRules = Object.assign({}, ...SECTIONS.map(([, { rules }]) => rules))

/** Every method of a service that asks the policy. */
export const methods: readonly AskingMethod[] = SECTIONS.flatMap(([, section]) => section.methods)
