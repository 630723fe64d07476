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

/** The methods that routes have. HEAD and OPTIONS follow from them. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A parameter of a path or query, or a header of the request, as documents describe it. */
export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  /** A function where it hangs on the limits of the API. */
  readonly schema: JsonSchema | ((limits: Settings<never>['limits']) => JsonSchema)
  readonly description: string
}

/** Something a route takes from a request: names become references, texts become values, and what is refused is thrown. */
export interface Input<Value> {
  readonly parameters: readonly Parameter[]
  /** What the body holds, for inputs that read it. */
  readonly body?: { readonly description: string; readonly schema: JsonSchema } | undefined
  /** What the policy is asked; exactly one input of a guarded route asks. */
  readonly action?: Action | undefined
  /** What `read` may throw, besides what every route may (route-errors.ts). */
  readonly errors: readonly ErrorCode[]
  read<A extends Actor>(exchange: RequestContext<A>): MaybePromise<Value>
}

/** One thing that a route answers when nothing is wrong, as documents describe it. */
export interface ResponseSpec {
  readonly status: 200 | 204 | 304
  readonly description: string
  /** Undefined: there is none. */
  readonly body?: { readonly type: string; readonly schema: JsonSchema } | undefined
  /** Besides those of every reply. */
  readonly headers: readonly ReplyHeader[]
}

/** What documents say of the replies of a route. */
export interface ReplyFacts extends ResponseSpec {
  /** What else of the request the reply depends on. */
  readonly parameters?: readonly Parameter[] | undefined
  /** What else is answered when nothing is wrong. */
  readonly others?: readonly ResponseSpec[] | undefined
  /** Refusals that are answers of the route, not errors of its operation. */
  readonly refusals?: readonly { readonly status: number; readonly code: ErrorCode }[] | undefined
}

/** How a route answers with the result of its operation. */
export interface Reply<Result> extends ReplyFacts {
  write<A extends Actor>(exchange: RequestContext<A>, result: Result): MaybePromise<ApiResponse>
}

/** The inputs of a route, in the order in which they are read: that is the order of checks. */
export type Inputs = Readonly<Record<string, Input<unknown>>>

/** The values of a route's inputs. */
export type InputValues<I extends Inputs> = { readonly [K in keyof I]: I[K] extends Input<infer Value> ? Value : never }

/** What a row of the route table says, whatever its inputs and its result are. */
export interface RouteFacts {
  readonly method: Method
  /** Below the mount point, with parameters in braces. */
  readonly path: string
  /** As in Gitea's API document. */
  readonly operationId: string
  readonly service: ServiceName
  readonly summary: string
  /** What the operation may throw, besides what its inputs throw. */
  readonly errors: readonly ErrorCode[]
}

/** One row of the route table, as it is written. */
export interface RouteDefinition<I extends Inputs, Result> extends RouteFacts {
  readonly inputs: I
  /** The one call of a service. The caller is authorised by then. */
  call<A extends Actor>(exchange: RequestContext<A>, given: InputValues<I>): MaybePromise<Result>
  readonly reply: Reply<Result>
}

/** One row of the route table, as dispatch uses it. */
export interface Route extends RouteFacts {
  readonly inputs: Inputs
  readonly reply: ReplyFacts
  answer<A extends Actor>(exchange: RequestContext<A>): SyncOrAsync<ApiResponse>
}

/** Makes a row of the route table: inputs, then the operation, then the reply. */
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

  // One value per input, each read by the input of that name; TypeScript cannot follow the loop.
  return given as InputValues<I>
}
