import type { HostPath } from '../known-host.ts'
import type { MountCase } from './mount-case.ts'
import { mountCase } from './mount-case.ts'
import { UNKNOWN_NAME } from './probe.ts'

/** Creates cases that the host serves its own paths, although the API receives each request first. */
export function elsewhereCases(paths: readonly HostPath[]): readonly MountCase[] {
  return paths.map(({ path, text }) =>
    mountCase(
      `${path} reaches the host`,
      { fix: 'let other paths pass: mount the API as a middleware with next, or use match' },
      async (client) => {
        const api = { path: client.probe.path(UNKNOWN_NAME) }
        const [answer, next] = await client.pipeline([{ path: '', target: path }, api])
        answer?.must(answer.body.includes(text), `a body with ${JSON.stringify(text)}`)
        next?.mustRefuse(client.probe.status, client.probe.code)
      },
    ),
  )
}
