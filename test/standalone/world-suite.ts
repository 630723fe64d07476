import { expect, test } from 'vitest'
import type { Standalone, StandaloneUser } from '../../app/standalone/standalone.ts'
import { openStandalone } from '../../app/standalone/standalone.ts'
import type { Caller } from '../../src/index.ts'
import { outcomeOf } from '../../src/testing/storage-contract/cases/storage-case.ts'
import type { AnyKind } from '../databases.ts'
import { alice, mia, olga, onHosts, sam, walt } from './open-host.ts'
import { WORLD } from './world.ts'

// Organizations 6 to 8 and repositories 1 to 5 are those of ./world.ts, in its order.
type Ask = (forge: Standalone['forge'], caller: Caller<StandaloneUser>, id: string) => unknown

const listBlocks: Ask = (forge, caller, organizationId) => forge.blocks.list(caller, { organizationId })
const listPins: Ask = (forge, caller, repositoryId) => forge.pins.list(caller, { repositoryId, kind: 'issue' })
const unpin: Ask = (forge, caller, repositoryId) => forge.pins.unpin(caller, { id: '900', repositoryId, kind: 'issue' })

const [nobody, none] = ['anonymous', 'REPOSITORY_NOT_FOUND'] as const
const ALLOWED: readonly (readonly [string, Ask, Caller<StandaloneUser>, string, string])[] = [
  ['an owner lists blocks', listBlocks, olga, '6', 'done'],
  ['a member does not list blocks', listBlocks, mia, '6', 'FORBIDDEN'],
  ['a stranger does not list blocks', listBlocks, sam, '6', 'FORBIDDEN'],
  ['a site admin lists blocks of any organization', listBlocks, alice, '7', 'done'],
  ['a member knows a private organization', listBlocks, mia, '7', 'FORBIDDEN'],
  ['a stranger does not know a private organization', listBlocks, sam, '7', 'ORGANIZATION_NOT_FOUND'],
  ['a stranger knows a limited organization', listBlocks, sam, '8', 'FORBIDDEN'],
  ['an unknown organization does not exist', listBlocks, olga, '99', 'ORGANIZATION_NOT_FOUND'],
  ['a user is no organization', listBlocks, olga, '2', 'ORGANIZATION_NOT_FOUND'],
  ['an anonymous caller reads a public repository', listPins, nobody, '1', 'done'],
  ['an anonymous caller does not know a private repository', listPins, nobody, '2', none],
  ['a stranger does not know a private repository', listPins, walt, '3', none],
  ['a member reads a private repository of the organization', listPins, mia, '2', 'done'],
  ['a reader reads', listPins, sam, '2', 'done'],
  ['an anonymous caller does not know a repository of a private organization', listPins, nobody, '3', none],
  ['an anonymous caller does not know a repository of a limited organization', listPins, nobody, '4', none],
  ['a signed-in caller reads a repository of a limited organization', listPins, sam, '4', 'done'],
  ['an unknown repository does not exist', listPins, olga, '99', none],
  ['a reader does not unpin', unpin, sam, '2', 'FORBIDDEN'],
  ['a member does not unpin', unpin, mia, '2', 'FORBIDDEN'],
  ['a writer does not unpin', unpin, walt, '2', 'FORBIDDEN'],
  ['an owner of the organization unpins', unpin, olga, '2', 'done'],
  ['a site admin unpins', unpin, alice, '5', 'done'],
  ['a member who is an admin of the repository unpins', unpin, mia, '3', 'done'],
  ['the user who owns the repository unpins', unpin, sam, '5', 'done'],
  ['of two roles the higher counts', unpin, walt, '5', 'done'],
]

/** Of requests: what names and numbers lead to. */
const FOUND: readonly (readonly [string, method: string, path: string, code: string | undefined])[] = [
  ['a repository is found in any case', 'GET', '/repos/ACME/rOCKET/issues/pinned', undefined],
  ['repositories of two owners may share a name', 'GET', '/repos/sam/ROCKET/issues/pinned', undefined],
  ['an unknown repository does not exist', 'GET', '/repos/acme/nothing/issues/pinned', none],
  ['a repository of an unknown owner does not exist', 'GET', '/repos/anonymous/rocket/issues/pinned', none],
  ['a user is found in any case', 'GET', '/orgs/aCME/blocks/sAM', undefined],
  ['an unknown user does not exist', 'GET', '/orgs/acme/blocks/anonymous', 'USER_NOT_FOUND'],
  ['an organization is not blocked', 'PUT', '/orgs/acme/blocks/INDOORS', 'CANNOT_BLOCK_ORGANIZATION'],
  ['a member is not blocked', 'PUT', '/orgs/acme/blocks/MIA', 'CANNOT_BLOCK_MEMBER'],
  ['a member of one may be blocked by another', 'PUT', '/orgs/indoors/blocks/mia', undefined],
  ['an unknown index does not exist', 'POST', '/repos/acme/rocket/issues/3/pin', 'ISSUE_NOT_FOUND'],
  ['an index counts in its repository', 'POST', '/repos/acme/vault/issues/1/pin', 'ISSUE_NOT_FOUND'],
  ['an issue is found by its index', 'POST', '/repos/acme/rocket/issues/7/pin', undefined],
  ['a pull request is found by its index', 'POST', '/repos/acme/rocket/issues/2/pin', undefined],
]

/** Defines what the host answers from the world of a fixture, on each of these databases. */
export function worldSuite(kinds: readonly AnyKind[]): void {
  onHosts(kinds, (open) => {
    test.each(ALLOWED)('%s', async (_fact, ask, caller, id, expected) => {
      const outcome = await outcomeOf(() => ask(open().host.forge, caller, id))

      expect('thrown' in outcome ? outcome.thrown : { code: 'done' }).toMatchObject({ code: expected })
    })

    test.each(FOUND)('%s', async (_fact, method, path, code) => {
      const found = await open().json(alice, method, path)

      expect((found as { readonly code?: string } | undefined)?.code).toBe(code)
    })

    test('every token of a user identifies them, by its digest alone', async () => {
      const { host, database } = open()
      const tokens = JSON.stringify(await database.run('select * from host_tokens'))

      expect(await host.authenticate('token alice-token')).toMatchObject(alice)
      expect(await host.authenticate('token olga-second')).toMatchObject(olga)
      for (const wrong of ['Alice-token', ...(tokens.match(/[0-9a-f]{64}/g) ?? ['no digest'])]) {
        expect(await outcomeOf(() => host.authenticate(`token ${wrong}`))).toMatchObject({
          thrown: { code: 'INVALID_CREDENTIALS' },
        })
      }
      expect(tokens).not.toContain('alice-token')
    })

    test('issues and pull requests are shown in the order of the pins, with what belongs to them', async () => {
      const pinned = (kind: string) => open().json(walt, 'GET', `/repos/acme/rocket/${kind}/pinned`)

      expect(await pinned('issues')).toMatchObject([
        { number: 7, state: 'closed', labels: [], assignees: null },
        {
          number: 1,
          user: { login: 'mia' },
          labels: [{ name: 'idea' }, { name: 'bug' }],
          assignees: [{ login: 'olga' }, { login: 'walt' }],
        },
      ])
      expect(await pinned('pulls')).toMatchObject([
        { number: 2, base: { repo: { open_issues_count: 1, open_pr_counter: 2 } } },
      ])
    })

    test('a database to which a newer release has added is used as it is', async () => {
      const { database } = open()
      const version = () => database.run('select version from host_ledger')
      const [before] = await version()
      await database.run('update host_ledger set version = 99')
      const newer = await openStandalone({ db: database.url, fixture: WORLD, logger: false })
      await newer.close()

      expect([newer.fixture, Number((await version())[0]?.['version'])]).toEqual(['ignored', 99])
      await database.run(`update host_ledger set version = ${before?.['version']}`)
    })

    test.each([
      [
        'accounts',
        'kind, name, folded_name, full_name, email, hides_email, is_site_admin, visibility, location, website, description, created_at',
      ],
      ['repositories', 'owner_id, name, folded_name, description, is_private, is_archived, default_branch, created_at'],
      ['issues', 'repository_id, number, kind, state, poster_id, comment_count, branch, record'],
    ])('the database refuses %s of the same name or number', async (table, columns) => {
      const { database } = open()
      const again = `insert into host_${table} (${columns}) select ${columns} from host_${table} where id = 1`

      await expect(database.run(again)).rejects.toThrow(/unique|duplicate/i)
    })

    test('a host under another prefix leaves this one alone', async () => {
      const { host, database } = open()
      const other = await openStandalone({ db: database.url, prefix: 'other_', logger: false })
      const found = [await host.findRepository('acme', 'rocket'), await other.findRepository('acme', 'rocket')]
      await other.close()

      expect(found).toMatchObject([{ id: '1' }, undefined])
    })
  })
}
