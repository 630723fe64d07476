export type {
  Actor,
  Api,
  MountOptions,
  NodeHandler as ExpressHandler,
  NodeMountOptions as ExpressMountOptions,
  NodeRequest,
  NodeResponse,
  ResettableSocket,
} from './node.ts'
export { nodeHandler as expressHandler } from './node.ts'
