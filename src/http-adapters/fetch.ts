export type { FetchHandler, FetchMountOptions } from './fetch/serve-fetch.ts'
export { fetchHandler } from './fetch/serve-fetch.ts'
export type { Actor, Api } from './routes/create-api.ts'
export type { MountOptions } from './routes/mount-options.ts'
