/** A runtime or a compiler, and the packages that bring it. */
interface Runtime {
  readonly name: string
  readonly packages: readonly string[]
  readonly program: string
}

export const RUNTIMES: readonly Runtime[]

export function install(runtime: Runtime, cache: string): { readonly folder: string; readonly program: string }
