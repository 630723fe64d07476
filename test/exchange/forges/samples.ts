import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ExchangeFormat, ReadOptions } from '../../../src/exchange/exchange.ts'

/** A record as a forge writes it. */
export type Sample = { readonly [property: string]: unknown }

/** The texts of files, by their names in a folder. */
export type Files = { readonly [name: string]: string }

function filesOf(folder: string): Files {
  const path = join(import.meta.dirname, 'samples', folder)
  const files = readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((name) => /[.]\w+$/.test(name))
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(path, name), 'utf8')]))
}

/** A folder of each forge, as it writes it: a few issues, and their comments. */
export const FOLDERS: {
  readonly [Forge in Exclude<ExchangeFormat, 'document'>]: Files
} = {
  github: filesOf('github'),
  'github-cli': filesOf('github-cli'),
  'github-archive': filesOf('github-archive'),
  'github-backup': filesOf('github-backup'),
  gitlab: filesOf('gitlab'),
  'gitlab-rest': filesOf('gitlab-rest'),
  gitea: filesOf('gitea'),
  'gitea-dump': filesOf('gitea-dump'),
  bitbucket: filesOf('bitbucket'),
  redmine: filesOf('redmine'),
}

/** What must be said to read a sample: an archive of GitHub has two repositories. */
export function optionsOf(forge: string): ReadOptions {
  return forge === 'github-archive' ? { sourceRepository: 'acme/rocket' } : {}
}

function recordsOf(files: Files, name: string): readonly Sample[] {
  const text = files[name] ?? ''
  return name.endsWith('.ndjson') ? JSON.parse(`[${text.trim().split('\n').join(',')}]`) : JSON.parse(text)
}

function firstOf(files: Files, name: string): Sample {
  return recordsOf(files, name)[0] ?? {}
}

export const githubIssue: Sample = firstOf(FOLDERS.github, 'issues.json')
export const githubComment: Sample = firstOf(FOLDERS.github, 'comments.json')
export const gitlabIssue: Sample = firstOf(FOLDERS.gitlab, 'tree/project/issues.ndjson')
export const gitlabMembers: readonly Sample[] = recordsOf(FOLDERS.gitlab, 'tree/project/project_members.ndjson')
export const gitlabRestIssue: Sample = firstOf(FOLDERS['gitlab-rest'], 'issues.json')
export const gitlabNote: Sample = firstOf(FOLDERS['gitlab-rest'], 'notes.json')
export const giteaIssues: readonly Sample[] = recordsOf(FOLDERS.gitea, 'issues.json')
export const ghIssues: readonly Sample[] = recordsOf(FOLDERS['github-cli'], 'issues.json')
export const bitbucketTracker: Sample = JSON.parse(FOLDERS.bitbucket['db-2.0.json'] ?? '')
export const redmineIssue: Sample = JSON.parse(FOLDERS.redmine['issues/812.json'] ?? '').issue
export const giteaDump: Files = FOLDERS['gitea-dump']
