// The cases of the wire, over real HTTP: each in a world of its own.
import { cases } from '../../http-adapters/cases.ts'
import { runCase } from '../../http-adapters/run-case.ts'
import { send } from './client.mjs'

/** The cases for a server that answers on a port, below a base that names the storage. */
export function wireCases(port, kind) {
  const all = Object.entries(cases).flatMap(([section, list]) => list.map((given) => ({ section, given })))
  return all.map(({ section, given }, index) => ({
    name: `${kind}: ${section}: ${given.fact}`,
    run: () =>
      runCase(given, async (sent) => {
        const { headers, ...reply } = await send(port, { ...sent, path: `/${kind}/case-${index}/api${sent.path}` })
        return { ...reply, headers: new Map(Object.entries(headers)) }
      }),
  }))
}
