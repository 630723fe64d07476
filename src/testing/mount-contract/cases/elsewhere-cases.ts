import type { HostPath } from '../known-host.ts'
import type { MountCase } from './mount-case.ts'
import { mountCase } from './mount-case.ts'
import { nobody } from './probe.ts'

/** A path of the host's own is answered by the host, though the API is asked before. */
export function elsewhereCases(paths: readonly HostPath[]): readonly MountCase[] {
  return paths.map(({ path, text }) =>
    mountCase(
      `${path} reaches the host`,
      { mend: 'let paths pass that are not of the API: mount it as a middleware with next, or by match' },
      async (visit) => {
        const api = { path: visit.probe.path(nobody) }
        const [answer, next] = await visit.askInTurn([{ path: '', target: path }, api])
        answer?.must(answer.body.includes(text), `a body with ${JSON.stringify(text)}`)
        next?.mustRefuse(visit.probe.status, visit.probe.code)
      },
    ),
  )
}
