// forgelet in an application of Next.js, or of whatever has route handlers in its style: app/api/v1/[...path]/route.js
//
//   import { DELETE, GET, PATCH, POST, PUT } from './mount-next.mjs'
//   const response = await GET(new Request('https://git.example.com/api/v1/repos/acme/rocket/issues/pinned'))
import { fetchHandler } from 'forgelet/fetch'
import { api, userOf } from './small-forge.mjs'

const forgelet = fetchHandler(api, {
  basePath: '/api/v1',
  authenticate: (request) => userOf(request.headers.get('authorization')),
})

export const dynamic = 'force-dynamic' // nothing here is rendered ahead
export {
  forgelet as DELETE,
  forgelet as GET,
  forgelet as HEAD,
  forgelet as OPTIONS,
  forgelet as PATCH,
  forgelet as POST,
  forgelet as PUT,
}
