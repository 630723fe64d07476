const ENVIRONMENT = `The environment variable FORGELET_DB is used if --db is not given. Use it for a URL with a password:
other users of the machine can see the command line, but not the environment.`

const SOURCES = `SOURCE is a file, a folder that a forge wrote, or - for standard input: an issue document, a list
that GitHub, GitLab or Gitea serves, a Gitea dump, or an unpacked GitLab export. docs/exchange.md
describes them, and what each of them loses.`

const TOKEN_RULES = `${ENVIRONMENT}
The servers may run meanwhile: they accept a new token at once, and answer a revoked one with 401.
Only the SHA-256 of a token is stored. Exit codes: 0 done, 1 unknown user or token, 2 wrong usage,
3 the database cannot be used.`

/** What follows the options in the help of a command: examples, what matters, exit codes. */
export const HELP: { readonly [command: string]: string | undefined } = {
  serve: `
Examples
  forgelet serve --fixture world.json
  forgelet serve --db :memory: --port 8080 --fixture world.yaml --signing-key key.asc
  forgelet serve --db postgres://forge@db.example.com/forge --fixture world.json
  forgelet serve --signing-key new.key --signing-key former.pub

${ENVIRONMENT}
A signing key is a file, OpenPGP or SSH, public or private, or "git": the key that git signs with
in this folder. Several are served together, the current one first.
Any number of servers can use one database. The first loads the fixture.
The API is at http://HOST:PORT/api/v1. Its documentation, where you can also send requests, is at
http://HOST:PORT/api/swagger. The fixture format is in docs/fixture.md.
/healthz is 200 while the process runs. /readyz is 200 while the server accepts requests and can use
its database, otherwise 503 with the reason.
SIGTERM or Ctrl-C: requests in progress finish, later ones get 503 with "Connection: close".
The log is on stderr, with --json one JSON object a line: time, level, message, and more fields.
Exit codes: 0 stopped by a signal, 1 invalid fixture or key, 2 wrong usage or port in use,
3 the database cannot be used, 130 or 143 ended by a second signal.`,
  'schema status': `
Examples
  forgelet schema status --db forgelet.sqlite --json

${ENVIRONMENT}
It prints current, outdated, too-new, drifted or empty, and warnings.
Exit codes: 0 current and no warnings, 1 anything else, 2 wrong usage,
3 the database cannot be used.`,
  'schema plan': `
Examples
  forgelet schema plan --db postgres:// --schema forge --ids user=uuid > forgelet.sql

Exit codes: 0 done, 2 wrong usage.`,
  'schema apply': `
Examples
  forgelet schema apply --db postgres://forge@db.example.com/forge

${ENVIRONMENT}
Exit codes: 0 done, 1 the tables are not current, 2 wrong usage, 3 the database cannot be used.`,
  'issues validate': `
Examples
  forgelet issues validate issues.json
  gh api --paginate 'repos/acme/rocket/issues?state=all' | forgelet issues validate - --json

${SOURCES}
The first 100 violations are listed, each with its file, line and JSON pointer, and what was
expected.
Exit codes: 0 valid, 1 not valid, 2 wrong usage or the source cannot be read, 3 stopped by a signal.`,
  'issues convert': `
Examples
  forgelet issues convert github-issues.json -o issues.json
  forgelet issues convert gitlab-export -o dump --to gitea-dump --repo acme/rocket
  forgelet issues convert dump -o - | gzip > issues.json.gz
  forgelet issues convert issues.json -o issues.csv --to csv

${SOURCES}
OUT appears whole or not at all. A document has issues only; a dump also has labels, milestones and
comments, and OUT must be a new or empty folder. CSV has a row for each issue, for spreadsheets; a
text that begins like a formula gets an apostrophe in front. No command reads it back.
If the document goes to standard output, messages and --json go to standard error.
Exit codes: 0 done, 1 the source is not valid, 2 wrong usage or a file cannot be read or written,
3 stopped by a signal.`,
  'issues import': `
Examples
  forgelet issues import issues.json --repo acme/rocket --db forge.sqlite --dry-run
  forgelet issues import gitlab-export --repo acme/rocket --attribution accounts --users users.json

${SOURCES}
SOURCE is checked whole before the first issue is written. Numbers are kept. An issue that exists
and is the same is left, so an import that was broken off is finished by running it again.
${ENVIRONMENT}
Exit codes: 0 done, 1 the source is not valid, a conflict, or no such repository, 2 wrong usage or a
file cannot be read, 3 the database cannot be used, or stopped by a signal.`,
  'issues reattribute': `
Examples
  forgelet issues reattribute --repo acme/rocket --users users.json --db forge.sqlite

The map is like that of "issues import --users": {"ada": "ada.l"} gives what ada wrote, was assigned
or reacted to the account ada.l. What has an account keeps it, so a second run changes nothing, and
a run that was broken off is finished by running it again. An export has the same names and times as
before. The servers may run meanwhile.
${ENVIRONMENT}
Exit codes: 0 done, 1 the map is not valid or no such repository, 2 wrong usage or a file cannot be
read, 3 the database cannot be used, or stopped by a signal.`,
  'issues export': `
Examples
  forgelet issues export --repo acme/rocket --db forge.sqlite -o issues.json
  forgelet issues export --repo acme/rocket | gzip > issues.json.gz

The document has the issues in ascending order of their numbers, without comments, and with e-mail
addresses. OUT appears whole or not at all.
${ENVIRONMENT}
Exit codes: 0 done, 1 no such repository, 2 wrong usage or the file cannot be written,
3 the database cannot be used, or stopped by a signal.`,
  'user create': `
Examples
  forgelet user create alice --admin --db forgelet.sqlite

${ENVIRONMENT}
"forgelet serve" makes the tables; it may run meanwhile, and accepts the token at once. Only the
SHA-256 of a token is stored. "forgelet token" makes more tokens, and revokes them.
Exit codes: 0 done, 1 the name is taken, 2 wrong usage or no name for a user,
3 the database cannot be used.`,
  'token create': `
Examples
  forgelet token create alice --name ci --db forgelet.sqlite

${TOKEN_RULES}`,
  'token list': `
Examples
  forgelet token list alice --db postgres://forge@db.example.com/forge --json

${TOKEN_RULES}`,
  'token revoke': `
Examples
  forgelet token revoke alice 9f86d081884c

${TOKEN_RULES}`,
  'keys show': `
Examples
  forgelet keys show key.asc
  forgelet keys show git --json

It shows the public half alone. A file named git is ./git.
Exit codes: 0 done, 1 the key cannot be read, 2 wrong usage.`,
  'keys generate': `
Examples
  forgelet keys generate --name "Example Forge" --email forge@example.com --out signing-key
  forgelet keys generate --format openpgp --name Forge --email forge@example.com --out key.asc

The fingerprint goes to standard output. The key is Ed25519, and neither file may exist before.
Exit codes: 0 done, 2 wrong usage or a file cannot be written.`,
  doctor: `
Examples
  forgelet doctor --db forgelet.sqlite
  forgelet doctor --db postgres://forge@db.example.com/forge --json

It prints the state of the tables of the forge and of the server, the settings that endanger data,
and what to do about each. The forge may be that of an application.
${ENVIRONMENT}
Exit codes: 0 all is well, 1 something should be done, 2 wrong usage,
3 the database cannot be reached or read.`,
  openapi: `
Examples
  forgelet openapi -o openapi.json
  forgelet openapi --public-url https://git.example.com

"forgelet serve" serves the same document at /api/v1/openapi.json. No server or database is needed.
With --json it is one line. Exit codes: 0 done, 2 wrong usage or the file cannot be written.`,
  completion: `
Examples
  source <(forgelet completion bash)
  source <(forgelet completion zsh)
  forgelet completion fish | source`,
}
