import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import ts from 'typescript'
import { giteaDump, githubComment, githubIssue, gitlabIssue, gitlabMembers } from '../exchange/forges/samples.ts'
import type { Page } from './page.ts'
import { ROOT } from './page.ts'

// What a page says that the reader has: what `prisma generate` writes, and the files of other forges.

const PRISMA_TYPES = `
export declare class PrismaClient {
  constructor(options: { readonly adapter: object })
  $transaction<T>(work: (transaction: PrismaClient) => Promise<T>, options?: { readonly timeout?: number }): Promise<T>
  $queryRaw<T>(parts: TemplateStringsArray, ...values: unknown[]): Promise<T>
  $queryRawUnsafe<T>(sql: string, ...values: unknown[]): Promise<T>
  $disconnect(): Promise<void>
}`

function prismaClient(): string {
  const source = readFileSync(join(ROOT, 'test/storage/prisma-client.ts'), 'utf8')
  const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 }
  return `${ts.transpile(source, options)}\nexport const PrismaClient = prismaClientClass('postgresql')\n`
}

/** What the programs of other forges write, in the place of these programs. */
function otherForges(): Readonly<Record<string, string>> {
  const lines = (records: readonly object[]): string => records.map((record) => JSON.stringify(record)).join('\n')
  return {
    'there/issues.json': JSON.stringify([githubIssue]),
    'there/comments.json': JSON.stringify([githubComment]),
    'bin/gh': '#!/bin/sh\ncase "$*" in *issues/comments*) cat there/comments.json;; *) cat there/issues.json;; esac\n',
    'there/tree/project/issues.ndjson': JSON.stringify(gitlabIssue),
    'there/tree/project/project_members.ndjson': lines(gitlabMembers),
    ...Object.fromEntries(Object.entries(giteaDump).map(([name, text]) => [`there/dump/${name}`, text])),
    'bin/gitea': '#!/bin/sh\ncp -r there/dump dump\n',
  }
}

/** The files that a page needs beside its own, by their names in its folder. */
function inputsOf({ name }: Page): Readonly<Record<string, string>> {
  if (name === '14-import-and-export') return otherForges()
  if (name !== '08-your-transaction') return {}
  return { 'generated/prisma/client.ts': PRISMA_TYPES, 'generated/prisma/client.js': prismaClient() }
}

/** Writes into the folder of a page what the reader has. */
export async function writeInputs(page: Page, folder: string): Promise<void> {
  const inputs = Object.entries(inputsOf(page))
  for (const [name, text] of inputs) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text, { mode: name.startsWith('bin/') ? 0o755 : 0o644 })
  }
  if (inputs.some(([name]) => name.startsWith('there/tree'))) {
    execFileSync('tar', ['-czf', '../export.tar.gz', 'tree'], { cwd: join(folder, 'there') })
  }
}
