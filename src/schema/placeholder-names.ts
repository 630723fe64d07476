/** The author in place of a user who has deleted the account: a source has null there. */
export const GHOST = { poster_id: 0, poster_name: 'ghost' } as const

/** Returns the name of a user of whom a source has only the id. Each has another, so that a map of names can replace it. */
export function nameOfId(id: unknown): string {
  return id === GHOST.poster_id ? GHOST.poster_name : `user-${String(id)}`
}

/** Returns whether a name stands for everyone who has deleted an account. Other forges write it like this too. */
export function isGhost(name: string): boolean {
  return name.toLowerCase() === GHOST.poster_name
}

/**
 * Returns whether a name was made up for someone whose name is not known. An account that happens to have it belongs to
 * someone else.
 */
export function isPlaceholder(name: string, id?: number): boolean {
  const [, digits] = /^user-(\d+)$/.exec(name) ?? []
  return isGhost(name) || (digits !== undefined && (id === undefined || String(id) === digits))
}
