import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { TestDatabase } from '../databases.ts'
import { newDatabase, onServer, POSTGRES, SERVERS } from '../databases.ts'
import { INSTALLATION, installPackages, packageFolder } from '../packages.ts'

// What the tools that make a database equal to a host's models do to the tables of a forge: the table of docs/databases.md, but for
// Prisma, whose engine is a download.

const folder = packageFolder()
const PACKAGES = [
  ...['drizzle-orm@0.45.4', 'drizzle-kit@0.31.11', '@mikro-orm/core@7.2.1', '@mikro-orm/postgresql@7.2.1'],
  ...['typeorm@1.1.1', 'reflect-metadata@0.2.2', 'sequelize@6.37.8', 'pg@8.23.1', 'pg-hstore@2.3.4'],
]
/** The tables of the host, which every model below describes. */
const USERS = 'create table users (id bigint primary key generated always as identity, username varchar(255) not null)'

const DRIZZLE_MODEL = `
import { bigint, pgTable, varchar } from 'drizzle-orm/pg-core'
const id = bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity()
export const users = pgTable('users', { id, username: varchar({ length: 255 }).notNull() })`

const drizzle = (settings: string): string => `
import { defineConfig } from 'drizzle-kit'
const options = { dialect: 'postgresql', schema: './model.ts', dbCredentials: { url: process.env.DATABASE } }
export default defineConfig({ ...options, ${settings} })`

const mikroOrm = (settings: string): string => `
import { EntitySchema, MikroORM } from '@mikro-orm/postgresql'
const properties = {
  id: { type: 'bigint', primary: true, generated: 'identity' },
  username: { type: 'string', length: 255 },
}
const entities = [new EntitySchema({ name: 'User', tableName: 'users', properties })]
const orm = await MikroORM.init({ entities, clientUrl: process.env.DATABASE, ${settings} })
await orm.schema.update()
await orm.close()`

const TYPEORM = `
import 'reflect-metadata'
import { DataSource, EntitySchema } from 'typeorm'
const id = { type: 'bigint', primary: true, generated: 'identity', generatedIdentity: 'ALWAYS' }
const columns = { id, username: { type: 'varchar', length: 255 } }
const entities = [new EntitySchema({ name: 'User', tableName: 'users', columns })]
const source = await new DataSource({ type: 'postgres', url: process.env.DATABASE, entities, synchronize: true }).initialize()
await source.destroy()`

const sequelize = (sync: string): string => `
import { DataTypes, Sequelize } from 'sequelize'
const sequelize = new Sequelize(process.env.DATABASE, { logging: false })
const id = { type: DataTypes.BIGINT, primaryKey: true, autoIncrement: true }
const username = { type: DataTypes.STRING(255), allowNull: false }
sequelize.define('User', { id, username }, { tableName: 'users', timestamps: false })
await sequelize.sync({ ${sync} })
await sequelize.close()`

/** Runs a tool on a database, and returns what it printed if it failed: drizzle-kit ends with 0 then. */
function run({ url }: TestDatabase, tool: 'drizzle' | 'program', text: string): string | undefined {
  const name = tool === 'drizzle' ? 'drizzle.config.ts' : 'program.mjs'
  writeFileSync(join(folder, name), text)
  writeFileSync(join(folder, 'model.ts'), DRIZZLE_MODEL)
  const push = [join(folder, 'node_modules/drizzle-kit/bin.cjs'), 'push', '--force']
  const args = tool === 'drizzle' ? push : [name]
  const env = { ...process.env, DATABASE: url }
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, env, encoding: 'utf8' })
  return status === 0 && !/^error: /m.test(stderr) ? undefined : stdout + stderr
}

onServer(SERVERS.postgres, () => {
  beforeAll(() => {
    installPackages(folder, PACKAGES)
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  }, INSTALLATION)

  const tables = { users: { table: 'users', name: 'username' } }

  /** A host with users, beside whom a forge has its tables. */
  async function host(schema?: string) {
    const database = await newDatabase(POSTGRES)
    await database.run(USERS)
    const storage = await database.migrated({ schema, tables })
    return { database, state: async () => (await storage.schemaStatus()).state }
  }

  describe('beside a forge in a schema of its own', () => {
    test.each([
      ['drizzle-kit push', 'drizzle', drizzle('')],
      [
        'MikroORM schema:update with ignoreSchema',
        'program',
        mikroOrm("schemaGenerator: { ignoreSchema: ['forgelet'] }"),
      ],
      ['TypeORM synchronize', 'program', TYPEORM],
      ['Sequelize sync({ alter })', 'program', sequelize('alter: true')],
    ] as const)('%s leaves its tables alone', async (_, tool, text) => {
      const { database, state } = await host('forgelet')

      expect([run(database, tool, text), await state()]).toEqual([undefined, 'current'])
    })

    test('MikroORM schema:update without it drops them', async () => {
      const { database, state } = await host('forgelet')

      expect([run(database, 'program', mikroOrm('')), await state()]).toEqual([undefined, 'empty'])
    })

    test('Sequelize sync({ force }) removes the keys to a table that it makes again', async () => {
      const { database, state } = await host('forgelet')

      expect([run(database, 'program', sequelize('force: true')), await state()]).toEqual([undefined, 'drifted'])
    })

    test('Sequelize sync({ alter }) cannot write the type of a column that a condition names', async () => {
      const database = await newDatabase(POSTGRES)
      await database.run(USERS)
      const where = "username <> 'ghost'"
      await database.migrated({ schema: 'forgelet', tables: { users: { ...tables.users, where } } })

      expect(run(database, 'program', sequelize('alter: true'))).toContain('used by a view or rule')
    })
  })

  describe('beside a forge among the tables of the host', () => {
    const skip = 'skipTables: [/^forgelet_/], skipViews: [/^forgelet_/]'
    test.each([
      ['drizzle-kit push drops', 'empty', 'drizzle', drizzle('')],
      ['MikroORM schema:update drops', 'empty', 'program', mikroOrm('')],
      ['MikroORM that skips them leaves', 'current', 'program', mikroOrm(`schemaGenerator: { ${skip} }`)],
      ['TypeORM synchronize leaves', 'current', 'program', TYPEORM],
      ['Sequelize sync({ alter }) leaves', 'current', 'program', sequelize('alter: true')],
    ] as const)('%s its tables', async (_, expected, tool, text) => {
      const { database, state } = await host()

      expect([run(database, tool, text), await state()]).toEqual([undefined, expected])
    })

    test('drizzle-kit push that leaves them out fails at their sequence, and leaves them', async () => {
      const { database, state } = await host()

      expect(run(database, 'drizzle', drizzle("tablesFilter: ['!forgelet_*']"))).toContain('cannot drop sequence')
      expect(await state()).toBe('current')
    })
  })
})
