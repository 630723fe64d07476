import type { MountCase } from './mount-case.ts'
import { mountCase } from './mount-case.ts'

/** Cases about clients that disconnect. */
export const clientGoneCases: readonly MountCase[] = [
  mountCase(
    'a client that goes away aborts the signal of the ports',
    {
      needs: ['waiting'],
      mend: "hand the handler the server's own request and response, or a Request with their signal",
    },
    async (visit) => {
      const { waiting } = visit.known
      await visit.askAndLeave({ path: waiting?.path ?? '', headers: visit.credentials }, async () => waiting?.asked())
      await waiting?.aborted()
      await visit.mustLiveOn()
    },
  ),
]
