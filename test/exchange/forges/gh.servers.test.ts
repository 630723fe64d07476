import { execFile, execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWith } from '../../programs.ts'
import { newFolder } from '../../start-forgelet.ts'
import { readSource, wordsOf } from '../reading.ts'

// The real gh asks a server here, and what it prints is read. gh speaks HTTPS only, so the server has a certificate of its own.

const FIELDS =
  'number,title,body,state,author,createdAt,updatedAt,closedAt,labels,milestone,assignees,comments,reactionGroups'
const page = { hasNextPage: false, endCursor: '' }
const comment = {
  ...{ id: 'IC_1', author: null, authorAssociation: 'NONE', body: 'Both gone.', createdAt: '2026-01-03T00:00:00Z' },
  ...{ includesCreatedEdit: true, isMinimized: false, minimizedReason: '', url: 'https://git.example.com/1' },
  ...{ viewerDidAuthor: false, reactionGroups: [{ content: 'THUMBS_UP', users: { totalCount: 2 } }] },
}
const spam = { ...comment, id: 'IC_2', author: { login: 'spam' }, isMinimized: true, minimizedReason: 'spam' }
const label = { id: 'LA_1', name: 'bug', description: 'It is off', color: 'd73a4a' }
const bare = {
  ...{
    id: 'I_1',
    number: 1,
    title: 'Add "fins"',
    body: 'Größe\n🚀',
    state: 'OPEN',
    author: { login: 'mia', id: 'U_1' },
  },
  ...{ createdAt: '2026-01-01T00:00:00Z', updatedAt: '2026-01-04T00:00:00Z', closedAt: null, milestone: null },
  ...{ labels: { nodes: [label], totalCount: 1 }, assignees: { nodes: [{ login: 'ada' }], totalCount: 1 } },
  ...{ comments: { nodes: [comment, spam], totalCount: 2, pageInfo: page }, reactionGroups: [] },
}
const nothing = { nodes: [], totalCount: 0, pageInfo: page }
const milestone = { number: 1, title: 'Launch', description: '', dueOn: '2026-03-01T00:00:00Z' }
const closed = {
  ...bare,
  ...{ id: 'I_3', number: 3, state: 'CLOSED', closedAt: '2026-02-01T00:00:00Z', milestone, author: null },
  ...{ labels: nothing, assignees: nothing, comments: nothing },
}

const long = {
  ...bare,
  comments: { nodes: Array(100).fill(comment), totalCount: 130, pageInfo: { hasNextPage: true, endCursor: 'Y' } },
}

/** Answers the two questions of gh: which fields an issue has, and which issues there are. */
function answerTo(question: string, nodes: readonly object[]): unknown {
  if (question.includes('__type')) return { Issue: { fields: [] } }
  return { repository: { hasIssuesEnabled: true, issues: { nodes, totalCount: nodes.length, pageInfo: page } } }
}

describeWith(['gh', 'openssl'], 'gh issue list --json', () => {
  let folder = ''
  let host = ''
  let nodes: readonly object[] = [closed, bare]
  let close = async (): Promise<void> => undefined

  beforeAll(async () => {
    folder = await newFolder()
    const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'certificate.pem')]
    const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', ...files, ...names], {
      stdio: 'ignore',
    })
    const [key, cert] = ['key.pem', 'certificate.pem'].map((name) => readFileSync(join(folder, name)))
    const server = createServer({ key, cert }, async (request, response) => {
      const body = (await request.toArray()).join('')
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ data: answerTo(JSON.parse(body).query, nodes) }))
    })
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    host = `localhost:${(server.address() as AddressInfo).port}`
    close = () => new Promise((closed) => server.close(() => closed()))
  })

  afterAll(() => close())

  const list = async (fields: string): Promise<string> => {
    const env = {
      ...process.env,
      ...{ GH_ENTERPRISE_TOKEN: 'x', GH_CONFIG_DIR: folder, SSL_CERT_FILE: join(folder, 'certificate.pem') },
      ...{ GH_NO_UPDATE_NOTIFIER: '1', NO_COLOR: '1' },
    }
    const args = ['issue', 'list', '--repo', `${host}/acme/rocket`, '--state', 'all', '--limit', '9', '--json', fields]
    return (await promisify(execFile)('gh', args, { env })).stdout
  }

  test('prints what is read', async () => {
    const outcome = await readSource({ json: await list(FIELDS) })

    expect(outcome.violations).toEqual([])
    expect(outcome.records).toMatchObject([
      { kind: 'milestone', milestone: { title: 'Launch', deadline: '2026-03-01T00:00:00Z', state: 'open' } },
      {
        issue: {
          number: 3,
          poster_name: 'ghost',
          state: 'closed',
          closed: '2026-02-01T00:00:00Z',
          milestone: 'Launch',
        },
      },
      { issue: { number: 1, poster_name: 'mia', content: 'Größe\n🚀', labels: [{ name: 'bug' }], assignees: ['ada'] } },
      { comment: { issue_number: 1, poster_name: 'ghost', content: 'Both gone.', created: '2026-01-03T00:00:00Z' } },
    ])
    expect(wordsOf(outcome)).toEqual({ minimized: 1, reactions: 2 })
  })

  test('prints what is refused with the fields that are missing, if it was asked for a few', async () => {
    const { violations } = await readSource({ json: await list('number,title,state') })
    expect(violations).toMatchObject([
      { code: 'format', message: expect.stringContaining('author,body,createdAt,updatedAt') },
    ])
  })

  test('does not print what follows the hundredth comment, and that is reported', async () => {
    nodes = [long]
    const outcome = await readSource({ json: await list(FIELDS) })

    expect(outcome.records.filter(({ kind }) => kind === 'comment')).toHaveLength(100)
    expect(wordsOf(outcome)).toEqual({ comments: 1, reactions: 200 })
  })
})
