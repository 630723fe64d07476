import type { Ask } from './case.ts'

const ROCKET = '/repos/acme/rocket'

/** Pins issues or pull requests of acme/rocket, one after the other. */
export function pin(...indexes: readonly number[]): readonly Ask[] {
  return indexes.map((index) => ['ada', 'POST', `${ROCKET}/issues/${index}/pin`])
}

/** What the list of pinned issues shows of these. */
export function issues(...indexes: readonly number[]): readonly object[] {
  return indexes.map((index, at) => ({ number: index, pin_order: at + 1, title: `issue ${index}` }))
}
