// The library once had names of its own for standard ideas. They were replaced by the terms of the field, see
// docs/decisions/0003-files-by-concept.md. This check refuses the old names in sources, schemas and documents, so that a
// concept has one name.
// Usage: node tools/check-names.mjs
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

const RETIRED = new Map([
  ['Asker', 'Caller'],
  ['checkAsker', 'checkCaller'],
  ['Verdict', 'AccessDecision'],
  ['joinSync', 'withTransactionSync'],
  ['JoinedServices', 'TransactionServices'],
  ['blockedAmong', 'filterBlocked'],
  ['Synchronous', 'Sync'],
  ['Prompt', 'MaybeAsync'],
  ['badgeCase', 'userBadges'],
  ['badgeCases', 'userBadges'],
  ['BadgeCase', 'UserBadges'],
  ['NeutralRequest', 'ApiRequest'],
  ['NeutralReply', 'ApiResponse'],
  ['Steps', 'SyncOrAsync'],
  ['runLater', 'runAsync'],
  ['runNow', 'runSync'],
  ['operationsDoor', 'withInternals'],
  ['Announcer', 'Listeners'],
  ['Bell', 'WakeUp'],
  ['admitMember', 'assertNotBlocked'],
  ['allAbout', 'withSubjects'],
  ['harmless', 'safeObserver'],
  ['quietly', 'ignoreErrors'],
  ['NodeVisit', 'NodeContext'],
  ['FetchVisit', 'FetchContext'],
  ['Gathering', 'BodyBuffer'],
  ['dropRest', 'drain'],
  ['isNothing', 'isNil'],
  ['ParsedKey', 'LazyKey'],
  ['FileKey', 'WatchedKeyFile'],
  ['foldName', 'normalizeName'],
  ['OwnPage', 'StaticPage'],
  ['Reception', 'RequestHandler'],
  ['Terminal', 'CommandIO'],
  ['Farewell', 'Removal'],
  ['Manner', 'KyselyBackend'],
  ['Habits', 'ConnectionSettings'],
  ['Course', 'TransactionPhase'],
  ['Stretch', 'PageRange'],
])
const NAME = new RegExp(`\\b(?:${[...RETIRED.keys()].join('|')}|(?:MOST|LONGEST|SHORTEST)_[A-Z_]+)\\b`)

const paths = ['src', 'schema', 'docs', 'README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', ':!docs/decisions']
const tracked = execFileSync('git', ['ls-files', '-z', '--', ...paths], { encoding: 'utf8' }).split('\0')
const found = tracked.filter(existsSync).flatMap((file) => {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.flatMap((line, index) => {
    const [name] = NAME.exec(line) ?? []
    return name === undefined
      ? []
      : [`${file}:${index + 1}  ${name}: use ${RETIRED.get(name) ?? 'MAX_… or MIN_…, with the unit'}`]
  })
})

for (const line of found) console.error(line)
if (found.length > 0) process.exitCode = 1
