import type { Actor } from '../../core/ports.ts'
import type { Action } from '../../schema/access.ts'
import type { MaybePromise, SyncOrAsync } from '../../schema/sync-or-async.ts'
import { wait } from '../../schema/sync-or-async.ts'
import type { ErrorCode } from './error-status.ts'
import type { JsonSchema } from './json-schema.ts'
import type { ApiResponse } from './messages.ts'
import type { ReplyHeader } from './reply-headers.ts'
import type { RequestContext } from './request-context.ts'
import type { ServiceName, Settings } from './settings.ts'

/** The methods that routes can have. The router adds HEAD and OPTIONS. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A path parameter, a query parameter or a request header, as API documents describe it. */
export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  /** A function if the schema depends on the limits of the API. */
  readonly schema: JsonSchema | ((limits: Settings<never>['limits']) => JsonSchema)
  readonly description: string
}

/**
 * One value that a route takes from a request. It resolves names to references and texts to values, and throws if it
 * refuses them.
 */
export interface Input<Value> {
  readonly parameters: readonly Parameter[]
  /** The content of the body, for inputs that read it. */
  readonly body?: { readonly description: string; readonly schema: JsonSchema } | undefined
  /** The action that the policy decides. Exactly one input of a guarded route has one. */
  readonly action?: Action | undefined
  /** The errors that `read` may throw, besides those of every route (route-errors.ts). */
  readonly errors: readonly ErrorCode[]
  read<A extends Actor>(exchange: RequestContext<A>): MaybePromise<Value>
}

/** One successful response of a route, as API documents describe it. */
export interface ResponseSpec {
  readonly status: 200 | 204 | 304
  readonly description: string
  /** Undefined if the response has no body. */
  readonly body?: { readonly type: string; readonly schema: JsonSchema } | undefined
  /** The headers besides those of every response. */
  readonly headers: readonly ReplyHeader[]
}

/** What API documents say about the responses of a route. */
export interface ReplyFacts extends ResponseSpec {
  /** Further parts of the request that the response depends on. */
  readonly parameters?: readonly Parameter[] | undefined
  /** Further successful responses. */
  readonly others?: readonly ResponseSpec[] | undefined
  /** Refusals that are results of the route, not errors of its operation. */
  readonly refusals?: readonly { readonly status: number; readonly code: ErrorCode }[] | undefined
}

/** How a route writes the result of its operation. */
export interface Reply<Result> extends ReplyFacts {
  write<A extends Actor>(exchange: RequestContext<A>, result: Result): MaybePromise<ApiResponse>
}

/** The inputs of a route. They are read in this order, which is also the order of the checks. */
export type Inputs = Readonly<Record<string, Input<unknown>>>

/** The values of a route's inputs. */
export type InputValues<I extends Inputs> = { readonly [K in keyof I]: I[K] extends Input<infer Value> ? Value : never }

/** The properties of a route that do not depend on the types of its inputs and its result. */
export interface RouteFacts {
  readonly method: Method
  /** The path below the mount point, with parameters in braces. */
  readonly path: string
  /** As in Gitea's API document. */
  readonly operationId: string
  readonly service: ServiceName
  readonly summary: string
  /** The errors that the operation may throw, besides those of its inputs. */
  readonly errors: readonly ErrorCode[]
}

/** The definition of a route. */
export interface RouteDefinition<I extends Inputs, Result> extends RouteFacts {
  readonly inputs: I
  /** Calls one service method. The caller is already authorized. */
  call<A extends Actor>(exchange: RequestContext<A>, given: InputValues<I>): MaybePromise<Result>
  readonly reply: Reply<Result>
}

/** A route in the form that the dispatcher uses. */
export interface Route extends RouteFacts {
  readonly inputs: Inputs
  readonly reply: ReplyFacts
  answer<A extends Actor>(exchange: RequestContext<A>): SyncOrAsync<ApiResponse>
}

/** Creates a route: it reads the inputs, then calls the operation, then writes the response. */
export function route<const I extends Inputs, Result>(definition: RouteDefinition<I, Result>): Route {
  const inputs = Object.entries(definition.inputs)
  return {
    ...definition,
    *answer(exchange) {
      const given: InputValues<I> = yield* readAll(inputs, exchange)
      const result = yield* wait(definition.call(exchange, given))
      return yield* wait(definition.reply.write(exchange, result))
    },
  }
}

function* readAll<I extends Inputs, A extends Actor>(
  inputs: readonly (readonly [name: string, input: Input<unknown>])[],
  exchange: RequestContext<A>,
): SyncOrAsync<InputValues<I>> {
  const given: Record<string, unknown> = {}
  for (const [name, input] of inputs) given[name] = yield* wait(input.read(exchange))

  // There is one value per input, each read by the input of that name. TypeScript cannot follow the loop.
  return given as InputValues<I>
}
