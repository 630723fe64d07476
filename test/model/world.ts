import type { IssueRef, PinKind } from '../../src/index.ts'

/** Who asks in the model's world: one who may do all, one who may nothing, one from whom all is concealed, an anonymous caller, the host. */
export type Who = 'owner' | 'stranger' | 'outsider' | 'anonymous' | 'system'

/** The ids of those who are signed in. */
export const WHO_IDS: { readonly owner: '1'; readonly stranger: '2'; readonly outsider: '3' } = {
  owner: '1',
  stranger: '2',
  outsider: '3',
}

export const REPOSITORIES: readonly string[] = ['10', '11']
export const KINDS: readonly PinKind[] = ['issue', 'pullRequest']
export const ORGANIZATIONS: readonly string[] = ['20', '9007199254740993']
export const USERS: readonly string[] = ['1', '30', '31', '9007199254740993']
export const SLUGS: readonly string[] = ['night-owl', 'Night-Owl', 'night-owl ', '🦉']

/** Pins on one board; the two kinds differ, so that mixing them up shows. */
export const MAX_PINS: { readonly [K in PinKind]: number } = { issue: 3, pullRequest: 2 }

/** Every issue of the world: four on each board, their ids given out once. */
export const ISSUES: readonly (IssueRef & { readonly id: string; readonly repositoryId: string })[] =
  REPOSITORIES.flatMap((repositoryId, first) =>
    KINDS.flatMap((kind, second) =>
      [1, 2, 3, 4].map((n) => ({ id: String(100 * (2 * first + second + 1) + n), repositoryId, kind })),
    ),
  )

/** The time of a step: a second after the step before. */
export function momentOf(step: number): Date {
  return new Date(1_700_000_000_000 + 1000 * step)
}
