import type { MaybePromise, Steps } from '../schema/steps.ts'
import type { OpenCall } from './call.ts'
import type { Actor } from './ports.ts'
import type { Prompt, Synchronous } from './services.ts'

/** Runs an operation as a promise: the services as hosts know them. */
export type PerformLater = <T>(steps: Steps<T>) => Promise<T>

/** Runs an operation at once: the services inside a synchronous transaction. */
export type PerformNow = <T>(steps: Steps<T>) => T

/** Runs an operation at once where nothing is asynchronous: the operations behind the services. */
export type Perform = <T>(steps: Steps<T>) => MaybePromise<T>

/** One service, in each of the ways it can be called. */
export interface Face<Service, A extends Actor, Tx> {
  (open: OpenCall<A, Tx>, perform: PerformLater): Service
  (open: OpenCall<A, Tx>, perform: PerformNow): Synchronous<Service>
  (open: OpenCall<A, Tx>, perform: Perform): Prompt<Service>
}

/** Makes the face of a service out of its methods, written once: each opens a call and performs its operation. */
export function face<Service, A extends Actor, Tx>(
  methods: (open: OpenCall<A, Tx>, perform: Perform) => Prompt<Service>,
): Face<Service, A, Tx> {
  function turn(open: OpenCall<A, Tx>, perform: PerformLater): Service
  function turn(open: OpenCall<A, Tx>, perform: PerformNow): Synchronous<Service>
  function turn(open: OpenCall<A, Tx>, perform: Perform): Prompt<Service>
  // A method answers as `perform` does; the overloads say so, since a type cannot.
  function turn(open: OpenCall<A, Tx>, perform: Perform): Service | Synchronous<Service> | Prompt<Service> {
    return methods(open, perform)
  }
  return turn
}
