// The library once had names of its own for standard ideas, and private turns of phrase. They were replaced by the terms
// of the field and by plain English, see docs/decisions/0003-files-by-concept.md. This check refuses the old names and
// words in sources, schemas and documents, so that a concept has one name.
// Usage: node tools/check-names.mjs
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

const RETIRED = new Map([
  ['Asker', 'Caller'],
  ['checkAsker', 'checkCaller'],
  ['Verdict', 'AccessDecision'],
  ['joinSync', 'withTransactionSync'],
  ['JoinedServices', 'TransactionServices'],
  ['JoinedConnection', 'HostConnection'],
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
const NAME = new RegExp(`\\b(?:${[...RETIRED.keys()].join('|')}|(?:MOST|LONGEST|SHORTEST)(?:_[A-Z_]+)?)\\b`)

/** Words and phrases, with what to write instead. */
const PHRASES = [
  [/\b(?:tells?|telling|told)\b/i, 'report, log, notify or return'],
  [/\b(?:hears?|hearing|heard)\b/i, 'listen or receive'],
  [/\bmend(?:s|ed|ing)?\b/i, 'fix'],
  [/\bof ours\b|\bof the host's(?=[.,;:)]|$)/i, "our, the host's"],
  [/\b(?:that|which) (?:is|are) none\b|\bwhat is no\b/i, 'not a valid …'],
  [/\banew\b/i, 'again'],
  [/\bwhoever\b|\b(?:any|no|some)body\b/i, 'callers, no one or a client'],
  [/\b(?:gives?|gave|giving) back\b/i, 'return'],
  [/\b(?:stands?|stood) in\b/i, 'is in'],
  [/\b(?:looks?|looked|looking) at\b/i, 'check or read'],
  [/\bfor good\b/i, 'permanently'],
  [
    /\bjoin(?:s|ed|ing)? (?:us )?(?:to |in )?(?:an? |the |its |our )?(?:host’s |host's )?transaction/i,
    "in the host's transaction",
  ],
  [/\bthere is none\b/i, 'not found or missing'],
  [/\b(?:a|the|this|that) moment\b|\ba while\b/i, 'a time with its unit'],
  [/\b(?:room|door|guest)s?\b/i, 'module, boundary or application'],
]

const paths = [
  'src',
  'schema',
  'docs',
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'test',
  'bench',
  'examples',
  'demo',
  '.ci',
]
const tracked = execFileSync('git', ['ls-files', '-z', '--', ...paths], { encoding: 'utf8' }).split('\0')
const found = tracked.filter(existsSync).flatMap((file) => {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.flatMap((line, index) => {
    const [name] = NAME.exec(line) ?? []
    const names = name === undefined ? [] : [[name, RETIRED.get(name) ?? 'MAX_… or MIN_…, with the unit']]
    const phrases = PHRASES.flatMap(([phrase, instead]) => {
      const [found] = phrase.exec(line) ?? []
      return found === undefined ? [] : [[found, instead]]
    })
    return [...names, ...phrases].map(([word, instead]) => `${file}:${index + 1}  ${word}: use ${instead}`)
  })
})

for (const line of found) console.error(line)
if (found.length > 0) process.exitCode = 1
