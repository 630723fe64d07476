import type { MaybePromise, Steps } from '../schema/steps.ts'

/** Runs an operation as a promise: the services as hosts know them. */
export type PerformLater = <T>(steps: Steps<T>) => Promise<T>

/** Runs an operation at once: the services inside a synchronous transaction. */
export type PerformNow = <T>(steps: Steps<T>) => T

/** Runs an operation at once where nothing is asynchronous: the operations behind the services. */
export type Perform = <T>(steps: Steps<T>) => MaybePromise<T>
