import type { Command } from '@commander-js/extra-typings'
import type { AttributionCounts, ReattributedPerson, ReattributeReport } from 'forgelet'
import type { CommandIO } from '../command.ts'
import { CommandError, newCommand, printable, printResult } from '../command.ts'
import { inRepository, withRepository } from './open-repository.ts'
import { counts, readUsers, withoutAccount } from './people.ts'

const HELP = `
  forgelet issues reattribute --repo acme/rocket --users users.json --db forge.sqlite

The map {"ada": "ada.l"} gives what ada wrote, was assigned or reacted to the account ada.l. What
has an account keeps it: an interrupted run is finished by running it again.`

/** Adds `forgelet issues reattribute`. */
export function addReattribute(issues: Command, io: CommandIO): void {
  const description = 'give accounts to people who were imported by their names'
  inRepository(newCommand(issues, 'reattribute', description, HELP))
    .requiredOption('--users <file>', 'map of names to accounts (JSON or YAML)')
    .action(async (options) => {
      const people = await readUsers(options.users)
      await withRepository(options, io, async ({ forge, repositoryId }) => {
        try {
          const request = { repositoryId, people }
          const report = await forge.exchange.reattribute('system', request, { signal: io.stop })
          printResult(io, options, report, reportLines(report).map(printable))
        } catch (error) {
          if (!io.stop.aborted) throw error
          throw new CommandError(3, 'stopped: who got an account keeps it; run the same command again for the others')
        }
      })
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

function outcome({ name: _, named, remains, ...parts }: ReattributedPerson): string {
  if (named === 0) return 'named nowhere'
  if (remains) return 'no account here'
  return isNothing(parts) ? 'has an account already' : counts(parts)
}

function isNothing(all: AttributionCounts): boolean {
  return PARTS.every((part) => all[part] === 0)
}
