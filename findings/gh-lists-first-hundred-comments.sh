#!/usr/bin/env bash
# GitHub CLI 2.100.0 (and 2.23.0): `gh issue list --json comments`, of an issue with 130 comments.
# One would guess: it prints all of them, as `gh issue view --json comments` does, or says that there are more.
# Seen: both ask for the first hundred, and are told that there are 130 and another page. `view` asks for that page. `list` prints a
# hundred, with exit code 0 and nothing on standard error, and what it prints has neither the total nor the cursor: a script that moves
# issues to another place loses the other 30. The same server answers both.
# Needs Go, which builds gh, Node and openssl.
set -euo pipefail
folder=$(mktemp -d)
server=''
trap '[ -z "$server" ] || kill "$server"; chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder"
cat >go.mod <<'GO'
module example.com/finding

go 1.24

require github.com/cli/cli/v2 v2.100.0
GO
GOFLAGS=-mod=mod go build -o gh github.com/cli/cli/v2/cmd/gh 2>build.log || {
  tail -5 build.log
  exit 1
}
openssl req -x509 -newkey rsa:2048 -nodes -days 1 -keyout key.pem -out certificate.pem \
  -subj /CN=localhost -addext subjectAltName=DNS:localhost 2>/dev/null
cat >server.mjs <<'JS'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'

const comments = (from, to) => ({
  nodes: Array.from({ length: to - from }, (_, at) => ({
    id: `C${from + at}`, body: `comment ${from + at + 1}`, createdAt: '2026-01-02T00:00:00Z', author: { login: 'mia' },
    authorAssociation: 'NONE', includesCreatedEdit: false, isMinimized: false, minimizedReason: '', reactionGroups: [],
    url: 'https://git.example.com/1', viewerDidAuthor: false,
  })),
  totalCount: 130,
  pageInfo: { hasNextPage: to < 130, endCursor: to < 130 ? `${to}` : '' },
})
const issue = { __typename: 'Issue', id: 'I1', number: 1, title: 'Long', comments: comments(0, 100) }
const answer = ({ query }) => {
  const types = [...query.matchAll(/(\w+): ?__type/g)].map(([, name]) => [name, { fields: [] }])
  if (types.length > 0) return Object.fromEntries(types)
  if (query.includes('node(id:')) return { node: { comments: comments(100, 130) } }
  if (query.includes('issues(')) {
    const issues = { nodes: [issue], totalCount: 1, pageInfo: { hasNextPage: false, endCursor: '' } }
    return { repository: { hasIssuesEnabled: true, issues } }
  }
  return { repository: { hasIssuesEnabled: true, issue, issueOrPullRequest: issue } }
}
const files = { key: readFileSync('key.pem'), cert: readFileSync('certificate.pem') }
const server = createServer(files, async (request, response) => {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ data: answer(JSON.parse((await request.toArray()).join('') || '{"query":""}')) }))
})
server.listen(0, '127.0.0.1', () => writeFileSync('port', `${server.address().port}`))
JS
node server.mjs &
server=$!
until [ -s port ]; do sleep 0.1; done
export GH_ENTERPRISE_TOKEN=x GH_CONFIG_DIR=$folder SSL_CERT_FILE=$folder/certificate.pem GH_NO_UPDATE_NOTIFIER=1 NO_COLOR=1
repository=localhost:$(cat port)/acme/rocket
count='let text = ""; process.stdin.on("data", (part) => (text += part)).on("end", () => {
  const [issue] = [JSON.parse(text)].flat()
  console.log(issue.comments.length, Object.keys(issue).join())
})'
./gh --version | head -1
listed=$(./gh issue list --repo "$repository" --state all --json number,comments 2>said | node -e "$count")
viewed=$(./gh issue view 1 --repo "$repository" --json number,comments | node -e "$count")
echo "gh issue list: $listed, and says '$(cat said)'"
echo "gh issue view: $viewed"
[ "$listed" = '100 comments,number' ] && [ ! -s said ] && [ "$viewed" = '130 comments,number' ]
