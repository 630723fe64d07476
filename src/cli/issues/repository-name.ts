import { CommandError } from '../command.ts'

/** The name of a repository. */
export interface RepositoryName {
  readonly owner: string
  readonly name: string
}

/**
 * Parses the value of `--repo`.
 * @throws CommandError (wrong usage)
 */
export function repositoryName(text: string): RepositoryName {
  const [owner, name, ...others] = text.split('/')
  if (owner && name && others.length === 0) return { owner, name }
  throw new CommandError(2, `--repo ${text}: give the owner and the name, such as acme/rocket`)
}
