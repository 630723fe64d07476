import type { ContractCase } from '../contract-case.ts'
import { bodyCases } from './cases/body-cases.ts'
import { exchangeCases } from './cases/exchange-cases.ts'
import type { MountCase } from './cases/mount-case.ts'
import { crossSiteCases, hostCases } from './cases/origin-cases.ts'
import { probeOf } from './cases/probe.ts'
import { responseCases } from './cases/response-cases.ts'
import { elsewhereCases, targetCases } from './cases/target-cases.ts'
import type { KnownHost, MountedHost } from './known-host.ts'
import { checkKnownHost } from './known-host.ts'

const CASES: readonly MountCase[] = [...targetCases, ...hostCases, ...responseCases, ...bodyCases, ...exchangeCases]

/**
 * Returns the requirements for every mounted API (docs/mount-contract.md), as plain cases for any test runner. The
 * cases run against the host's own application. Each case ends within ten seconds.
 *
 * @param start - starts the application for one case, which stops it; if it returns the same application each time, the
 * cases must run one after another
 * @param known - what the host has; cases that need a part which it omits are left out
 * @throws TypeError if no service is mounted, or a part of `known` does not exist or is not valid
 */
export function mountContract(start: () => Promise<MountedHost>, known: KnownHost = {}): readonly ContractCase[] {
  if (typeof start !== 'function')
    throw new TypeError('mountContract needs start, a function that starts the application')
  checkKnownHost(known)

  return casesFor(known).map((one) => ({ name: one.name, run: () => one.run(start, known) }))
}

function casesFor(known: KnownHost): readonly MountCase[] {
  const { services, elsewhere = [], crossSite = 'refuse' } = known
  const refuses = crossSite === 'refuse' && probeOf(services).unsafe !== undefined
  const all = [...CASES, ...(refuses ? crossSiteCases : []), ...elsewhereCases(elsewhere)]
  return all.filter(({ needs = [], service }) => {
    const isMounted = service === undefined || (services?.includes(service) ?? true)
    return isMounted && needs.every((part) => known[part] !== undefined)
  })
}
