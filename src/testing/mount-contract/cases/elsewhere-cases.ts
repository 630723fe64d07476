import type { HostPath } from '../known-host.ts'
import type { MountCase } from './mount-case.ts'
import { mountCase } from './mount-case.ts'
import { nobody } from './probe.ts'

/** Creates cases that the host serves its own paths, although the API receives each request first. */
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
