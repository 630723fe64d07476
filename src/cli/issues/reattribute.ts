import type { AttributionCounts, ReattributedPerson, ReattributeReport } from '../../index.ts'
import type { CommandIO, ExitCode } from '../command.ts'
import { CommandError, printable, printResult } from '../command.ts'
import type { RepositoryOptions } from './open-repository.ts'
import { withRepository } from './open-repository.ts'
import { readUsers, withoutAccount } from './people.ts'

/** The options of `forgelet issues reattribute`. */
export interface ReattributeOptions extends RepositoryOptions {
  /** A file. */
  readonly users: string
}

/**
 * Gives the accounts of people to what was imported by their names.
 * @throws CommandError with the documented exit code
 */
export async function reattribute(options: ReattributeOptions, io: CommandIO): Promise<ExitCode> {
  const people = await readUsers(options.users)
  return withRepository<ExitCode>(options, io, async ({ host, repositoryId }) => {
    try {
      const request = { repositoryId, people }
      const report = await host.forge.exchange.reattribute('system', request, { signal: io.stop })
      printResult(io, options, report, reportLines(report).map(printable))
      return 0
    } catch (error) {
      if (!io.stop.aborted) throw error
      throw new CommandError(3, 'stopped: who got an account keeps it; run the same command again for the others')
    }
  })
}

/** Returns the result, then what each person got, and who has no account. */
function reportLines({ people, remaining }: ReattributeReport): readonly string[] {
  const total = { issues: 0, assignees: 0, comments: 0, reactions: 0 }
  for (const person of people) for (const part of PARTS) total[part] += person[part]
  return [
    isNothing(total) ? 'nothing was changed' : `now with an account: ${counts(total)}`,
    ...people.map((person) => `${person.name}: ${outcome(person)}`),
    ...withoutAccount(remaining),
  ]
}

const PARTS = ['issues', 'assignees', 'comments', 'reactions'] as const

function outcome(person: ReattributedPerson): string {
  if (person.named === 0) return 'named nowhere'
  if (person.remains) return 'no account here'
  return isNothing(person) ? 'has an account already' : counts(person)
}

function isNothing(all: AttributionCounts): boolean {
  return PARTS.every((part) => all[part] === 0)
}

function counts(all: AttributionCounts): string {
  return PARTS.map((part) => `${all[part].toLocaleString('en')} ${part}`).join(', ')
}
