/** The exit codes of every command. */
export const EXIT_CODES: readonly string[] = [
  '0 done',
  '1 the input is not valid, or something is left to do',
  '2 wrong usage, or a file or port that cannot be used',
  '3 the database cannot be used, or stopped by a signal before the end',
]

/** The help of every command that has `--db`. */
export const DATABASE = `Without --db, the environment variable FORGELET_DB names the database. Use it for a URL with a
password: other users of the machine can see the command line, but not the environment.`

const SOURCES = `SOURCE is a file, a folder that a forge wrote, or - for standard input: an issue document, a list
that GitHub, GitLab or Gitea serves, a Gitea dump, or an unpacked GitLab export. docs/exchange.md
describes them, and what each of them loses.`

const TOKENS = 'The servers may run meanwhile: they accept a new token at once, and answer a revoked one with 401.'

/** Returns what follows the options in the help of a command. @param hasDatabase - whether it has `--db` */
export function helpBelow(command: string, hasDatabase: boolean): string {
  const codes = `Exit codes\n  ${EXIT_CODES.join('\n  ')}`
  return [`\nExamples${HELP[command] ?? ''}`, ...(hasDatabase ? [DATABASE] : []), codes].join('\n\n')
}

/** Examples of each command, and what matters. */
const HELP: { readonly [command: string]: string | undefined } = {
  serve: `
  forgelet serve --fixture world.json
  forgelet serve --db :memory: --port 8080 --fixture world.yaml --signing-key key.asc
  forgelet serve --db postgres://forge@db.example.com/forge --signing-key new --signing-key old.pub

The API is at http://HOST:PORT/api/v1, and a page about it, where you can also send requests, at
http://HOST:PORT/api/swagger. Probe /healthz and /readyz. docs/fixture.md describes fixtures. Any
number of servers can use one database: the first loads the fixture.
A signing key is a file, OpenPGP or SSH, public or private, or "git": the key that git signs with
in this folder. Several are served together, the current one first.
SIGTERM or Ctrl-C: requests in progress finish, later ones get 503 with "Connection: close". A
second signal ends the process: exit code 130 or 143.
The log is on stderr, with --json one JSON object a line.`,
  'schema status': `
  forgelet schema status --db forgelet.sqlite --json

It prints current, outdated, too-new, drifted or empty, and warnings.`,
  'schema plan': `
  forgelet schema plan --db postgres:// --schema forge --ids user=uuid > forgelet.sql`,
  'schema apply': `
  forgelet schema apply --db postgres://forge@db.example.com/forge`,
  'issues validate': `
  forgelet issues validate issues.json
  gh api --paginate 'repos/acme/rocket/issues?state=all' | forgelet issues validate - --json

${SOURCES}
The first 100 violations are listed, each with its file, line and JSON pointer.`,
  'issues convert': `
  forgelet issues convert github-issues.json -o issues.json
  forgelet issues convert gitlab-export -o dump --to gitea-dump --repo acme/rocket
  forgelet issues convert dump -o - | gzip > issues.json.gz
  forgelet issues convert issues.json -o issues.csv --to csv

${SOURCES}
OUT appears whole or not at all. A document has issues only; a dump, which is a new or empty folder,
also has labels, milestones and comments. CSV has a row for each issue, for spreadsheets. With -o -,
messages and --json go to standard error.`,
  'issues import': `
  forgelet issues import issues.json --repo acme/rocket --db forge.sqlite --dry-run
  forgelet issues import gitlab-export --repo acme/rocket --attribution accounts --users users.json

${SOURCES}
SOURCE is checked whole before the first issue is written. Numbers are kept. An issue that exists
and is the same is left, so an import that was broken off is finished by running it again.`,
  'issues reattribute': `
  forgelet issues reattribute --repo acme/rocket --users users.json --db forge.sqlite

The map {"ada": "ada.l"} gives what ada wrote, was assigned or reacted to the account ada.l. What
has an account keeps it: a run that was broken off is finished by running it again.`,
  'issues export': `
  forgelet issues export --repo acme/rocket --db forge.sqlite -o issues.json
  forgelet issues export --repo acme/rocket | gzip > issues.json.gz

The document has no comments, but e-mail addresses. OUT appears whole or not at all.`,
  'user create': `
  forgelet user create alice --admin --db forgelet.sqlite

"forgelet serve" makes the tables. "forgelet token" makes more tokens, and revokes them.
${TOKENS}`,
  'token create': `
  forgelet token create alice --name ci --db forgelet.sqlite

${TOKENS}`,
  'token list': `
  forgelet token list alice --db postgres://forge@db.example.com/forge --json`,
  'token revoke': `
  forgelet token revoke alice 9f86d081884c

${TOKENS}`,
  'keys show': `
  forgelet keys show key.asc
  forgelet keys show git --json

It shows the public half alone. A file named git is ./git.`,
  'keys generate': `
  forgelet keys generate --name "Example Forge" --email forge@example.com --out signing-key
  forgelet keys generate --format openpgp --name Forge --email forge@example.com --out key.asc

The fingerprint goes to standard output. The key is Ed25519, and neither file may exist before.`,
  doctor: `
  forgelet doctor --db forgelet.sqlite
  forgelet doctor --db postgres://forge@db.example.com/forge --json

The database may be that of an application.`,
  openapi: `
  forgelet openapi --public-url https://git.example.com > openapi.json

"forgelet serve" serves the same document at /api/v1/openapi.json. No server or database is needed.`,
  completion: `
  source <(forgelet completion bash)
  source <(forgelet completion zsh)
  forgelet completion fish | source`,
}
