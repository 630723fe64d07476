import type { Actor } from '../../core/ports.ts'
import type { ServiceName } from '../../core/services.ts'
import type { Action } from '../../schema/access.ts'
import type { MaybePromise } from '../../schema/sync-or-async.ts'
import { after, isPromise } from '../../schema/sync-or-async.ts'
import type { ErrorCode } from './error-status.ts'
import type { JsonSchema } from './json-schema.ts'
import type { ApiResponse } from './messages.ts'
import type { Directory, Presenter } from './ports.ts'
import type { ReplyHeader } from './reply-headers.ts'
import type { RequestContext, Settings } from './request-context.ts'
import type { Method } from './router.ts'

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
  readonly body?: BodyFacts | undefined
  /** The action that the policy decides. Exactly one input of a guarded route has one. */
  readonly action?: Action | undefined
  /** The errors that `read` may throw, besides those of every route (route-errors.ts). */
  readonly errors: readonly ErrorCode[]
  read<A extends Actor>(requestContext: RequestContext<A>): MaybePromise<Value>
}

/** The content of a body, as API documents describe it. */
export interface BodyFacts {
  readonly description: string
  readonly schema: JsonSchema
  /** Default: JSON, whatever the content type says. */
  readonly types?: readonly string[] | undefined
  /** The limit of its size. Default: `maxBodyBytes`. */
  readonly limit?: 'maxBodyBytes' | 'maxImportBytes' | undefined
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
  write<A extends Actor>(requestContext: RequestContext<A>, result: Result): MaybePromise<ApiResponse>
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
  call<A extends Actor>(requestContext: RequestContext<A>, given: InputValues<I>): MaybePromise<Result>
  readonly reply: Reply<Result>
}

/** A route in the form that the dispatcher uses. */
export interface Route extends RouteFacts {
  readonly inputs: Inputs
  readonly reply: ReplyFacts
  answer<A extends Actor>(requestContext: RequestContext<A>): MaybePromise<ApiResponse>
}

/** A method of the directory. */
type DirectoryMethod = keyof Directory<Actor>

/** A method of the presenter. */
type PresenterMethod = keyof Presenter<Actor>

/** What one service contributes to the API and to its document. `D` and `P` are the port methods that its routes call. */
export interface ServiceRoutes<
  D extends DirectoryMethod = DirectoryMethod,
  P extends PresenterMethod = PresenterMethod,
> {
  /** The methods of the ports that the routes call. A host of the service must have them. */
  readonly needs: { readonly directory: readonly D[]; readonly present: readonly P[] }
  /** What the routes are about, for API documents. */
  readonly description: string
  /** The schemas that the routes refer to, by name. A name may be used by one service only. */
  readonly schemas: Readonly<Record<string, JsonSchema>>
  readonly routes: readonly Route[]
}

/** Creates a route: it reads the inputs, then calls the operation, then writes the response. */
export function route<const I extends Inputs, Result>(definition: RouteDefinition<I, Result>): Route {
  const inputs = Object.entries(definition.inputs).map(([name, input]) => ({ name, input }))
  return {
    ...definition,
    answer(requestContext) {
      const values = readInputs(inputs, requestContext, {}, 0)
      // biome-ignore lint/nursery/noUnsafeTypeAssertion: each value is read by the input of its name
      const result = after(values, (given) => definition.call(requestContext, given as InputValues<I>))
      return after(result, (written) => definition.reply.write(requestContext, written))
    },
  }
}

/** The inputs of a route, in their order. */
type InputList = readonly { readonly name: string; readonly input: Input<unknown> }[]

/** Reads the inputs from the index `from` on, one after the other, and adds their values to `given`. */
function readInputs<A extends Actor>(
  inputs: InputList,
  requestContext: RequestContext<A>,
  given: Record<string, unknown>,
  from: number,
): MaybePromise<Record<string, unknown>> {
  for (let at = from; ; at += 1) {
    const next = inputs[at]
    if (next === undefined) return given

    const value = next.input.read(requestContext)
    if (isPromise(value)) return readLater(inputs, requestContext, given, at, value)
    given[next.name] = value
  }
}

/** Waits for the input at the index `at`, then reads the others. A closure in the loop would cost every request. */
function readLater<A extends Actor>(
  inputs: InputList,
  requestContext: RequestContext<A>,
  given: Record<string, unknown>,
  at: number,
  value: Promise<unknown>,
): MaybePromise<Record<string, unknown>> {
  return after(value, (read) => {
    const name = inputs[at]?.name
    return readInputs(inputs, requestContext, name === undefined ? given : { ...given, [name]: read }, at + 1)
  })
}
