import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { ExchangeFormat } from '../../../src/exchange/exchange.ts'
import type { Outcome } from '../reading.ts'
import { folderOf, readSource } from '../reading.ts'
import { FOLDERS, optionsOf } from './samples.ts'

const RUNS = process.env['LONG'] === '1' ? 5_000 : 300

type Path = readonly PropertyKey[]

/** Of the samples, the objects that become records or a part of one: the form, the file, and where in it they are. */
const PLACES: readonly (readonly [format: keyof typeof FOLDERS, file: string, ...paths: Path[]])[] = [
  ['github', 'issues.json', [0], [0, 'labels', 0], [0, 'milestone']],
  ['github', 'comments.json', [0]],
  ['github-cli', 'issues.json', [1], [1, 'labels', 0], [1, 'milestone'], [1, 'comments', 0]],
  ['github-archive', 'issues_000001.json', [0], [0, 'reactions', 0]],
  ['github-archive', 'issue_comments_000001.json', [0], [0, 'reactions', 0]],
  ['github-archive', 'repositories_000001.json', [0, 'labels', 0]],
  ['github-backup', 'issues/1.json', [], ['comment_data', 0]],
  ['github-backup', 'labels/labels.json', [0]],
  ['github-backup', 'milestones/1.json', []],
  ['gitea', 'issues.json', [0], [0, 'labels', 0], [0, 'milestone']],
  ['gitea', 'comments.json', [0]],
  ['gitea-dump', 'issue.yml', [0], [0, 'labels', 0], [0, 'reactions', 0]],
  ['gitea-dump', 'label.yml', [0]],
  ['gitea-dump', 'milestone.yml', [0]],
  ['gitea-dump', 'comments/8.yml', [0]],
  [
    'gitlab',
    'tree/project/issues.ndjson',
    [0],
    [0, 'milestone'],
    [0, 'label_links', 0, 'label'],
    [0, 'award_emoji', 0],
  ],
  ['gitlab', 'tree/project/issues.ndjson', [0, 'notes', 0]],
  ['gitlab', 'tree/project/labels.ndjson', [0]],
  ['gitlab', 'tree/project/milestones.ndjson', [0]],
  ['gitlab-rest', 'issues.json', [0], [0, 'labels', 0], [0, 'milestone']],
  ['gitlab-rest', 'notes.json', [0]],
  ['bitbucket', 'db-2.0.json', [], ['issues', 0], ['comments', 0], ['milestones', 0]],
  ['redmine', 'issues/812.json', ['issue'], ['issue', 'journals', 0]],
]

interface Place {
  readonly format: keyof typeof FOLDERS
  readonly file: string
  readonly path: Path
}

const places: readonly Place[] = PLACES.flatMap(([format, file, ...paths]) =>
  paths.map((path) => ({ format, file, path })),
)

const names = fc.oneof(
  fc.constantFrom(
    ...new Set([
      ...Object.values(FOLDERS).flatMap(
        (files) =>
          Object.values(files)
            .join()
            .match(/\b[a-z_]+(?="?:)/gi) ?? [],
      ),
      ...['pull_request', 'confidential', 'internal', 'weight', 'original_author', 'access_level', 'public_email'],
    ]),
  ),
  fc.string(),
  fc.constantFrom('__proto__', 'constructor', 'hasOwnProperty'),
)

/** Values that say something. */
const values: fc.Arbitrary<unknown> = fc.oneof(
  fc.string({ minLength: 1 }),
  fc.integer({ min: 1 }),
  fc.constantFrom(true, '2024-12-24', '2024-12-24T08:00:00Z', 'closed'),
  fc.array(fc.oneof(fc.string({ minLength: 1 }), fc.integer({ min: 1 })), { minLength: 1, maxLength: 3 }),
  fc.dictionary(fc.string({ minLength: 1 }), fc.integer({ min: 1 }), { minKeys: 1, maxKeys: 3 }),
)

/**
 * What is not reported: ids, addresses and counters of the forge, what repeats what the record is or belongs to, and what
 * GitLab derives from the rest.
 */
const OF_THE_FORGE =
  /^(?:references|_links|subscribed|has_tasks|task_status|task_completion_status|expired|description_html|text_?color)$|(?:^|_)(?:id|ids|iid|url|count|index|version|score|issues)$|^(?:repository|number|type|author|(?:awardable|noteable|target)_type)$/i

/** What `gh` derives or says of its user, what trackers say of themselves, and the number of comments where they all are. */
const OF_THE_TRACKER: { readonly [Format in ExchangeFormat]?: RegExp } = {
  'github-cli': /^(?:closed|authorAssociation|includesCreatedEdit|viewerDidAuthor|minimizedReason)$/,
  'github-backup': /^comments$/,
  bitbucket: /^(?:meta|components|versions)$/,
  redmine: /^project$/,
}

/** What is not reported of a label: that GitHub made it itself, and when it was made. */
function isOfLabel({ format, file, path }: Place, name: string): boolean {
  const isLabel = file.includes('label') || path.includes('labels') || path.includes('label')
  if (!isLabel || format === 'gitea-dump') return false
  if (format === 'github-archive' && name === 'created_at') return true
  return format.startsWith('gitlab') ? ['created_at', 'updated_at'].includes(name) : name === 'default'
}

/** Milestones with a state, which `gh` does not write, labels with two names, and issues that are locked by two. */
const examples: [Place, string, unknown][] = places.flatMap((place): [Place, string, unknown][] => {
  const { format, path } = place
  if (format === 'github-cli' && path.includes('milestone')) return [[place, 'state', 'closed']]
  if (format === 'gitlab' && path.includes('label')) return [[place, 'name', 'other']]
  if (format === 'gitea' && path.length === 1) return [[place, 'locked', 1]]
  return format === 'gitlab-rest' && path.includes('labels') ? [[place, 'title', 'other']] : []
})

/** What the file of a place has: JSON, a record on each line, or YAML, in which Gitea puts an empty list behind the other. */
function contentOf({ format, file }: Place): unknown {
  const text = FOLDERS[format][file] ?? ''
  return file.endsWith('.ndjson')
    ? JSON.parse(`[${text.trim().split('\n').join(',')}]`)
    : parse(text.replace(/^\[\]$/m, ''))
}

function readWith({ format, file }: Place, content: unknown): Promise<Outcome> {
  const files = { ...FOLDERS[format], [file]: JSON.stringify(content) }
  return readSource(folderOf(files), optionsOf(format))
}

describe('every property that says something', () => {
  test('is in the result, reported as not carried, or not valid', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...places), names, values, async (place, name, value) => {
        const { format, path } = place
        const content = contentOf(place)
        fc.pre(!hasProperty(content, path, name) && !OF_THE_FORGE.test(name) && !isOfLabel(place, name))
        fc.pre(OF_THE_TRACKER[format]?.test(name) !== true)

        const before = await readWith(place, content)
        expect(await readWith(place, withProperty(content, path, name, value))).not.toEqual(before)
      }),
      { numRuns: RUNS, examples },
    )
  })

  test.each(places)('$format has an object in $file at $path, and is valid', async (place) => {
    const content = contentOf(place)
    const { records, violations } = await readWith(place, content)

    expect(violations).toEqual([])
    expect(records.length).toBeGreaterThan(0)
    expect(valueAt(content, place.path)).toBeInstanceOf(Object)
  })
})

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce((object: unknown, step) => Object(object)[step], value)
}

/** Also in the other spelling: of `dueOn` and `due_on` the first counts, and no forge writes both. */
function hasProperty(value: unknown, path: Path, name: string): boolean {
  const folded = (text: string): string => text.replaceAll('_', '').toLowerCase()
  return Object.keys(Object(valueAt(value, path))).some((each) => folded(each) === folded(name))
}

function withProperty(value: unknown, [step, ...rest]: Path, name: string, added: unknown): unknown {
  if (step === undefined) return Object.fromEntries([...Object.entries(Object(value)), [name, added]])
  if (Array.isArray(value)) return value.map((item, at) => (at === step ? withProperty(item, rest, name, added) : item))
  return { ...Object(value), [step]: withProperty(Object(value)[step], rest, name, added) }
}
