import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import ts from 'typescript'
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

/** The files that a page needs beside its own, by their names in its folder. */
function inputsOf({ name }: Page): Readonly<Record<string, string>> {
  if (name !== '08-your-transaction') return {}
  return { 'generated/prisma/client.ts': PRISMA_TYPES, 'generated/prisma/client.js': prismaClient() }
}

/** Writes into the folder of a page what the reader has. */
export async function writeInputs(page: Page, folder: string): Promise<void> {
  for (const [name, text] of Object.entries(inputsOf(page))) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
}
